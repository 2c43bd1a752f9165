#!/usr/bin/env perl
# A worker: it reads its list of words once, and then serves one call after another.
use strict;
use warnings;
use IO::Handle;
use JSON::PP;

my $json = JSON::PP->new->utf8->canonical;
open my $frames, '>&=', 3 or die "descriptor 3: $!";
$frames->autoflush(1);

sub tell_server { print {$frames} $json->encode( $_[0] ), "\n" }
sub letters_of  { join '', sort split //, lc $_[0] }

# The slow part runs before the first call. Its data stays until the process exits.
my %words;
open my $list, '<', "$ENV{MCPBASH_PROJECT_ROOT}/data/words.txt" or die "data/words.txt: $!";
while ( my $word = <$list> ) { chomp $word; push @{ $words{ letters_of($word) } }, $word }
tell_server( { ready => { protocol => 1, files => ["$ENV{MCPBASH_PROJECT_ROOT}/data/words.txt"] } } );

while ( my $line = <STDIN> ) {
    my $frame = $json->decode($line);
    my $call  = $frame->{call};
    next unless $frame->{tool};    # A cancellation comes too late: each call is answered at once.
    my $word = $frame->{arguments}{word};
    if ( $word !~ /^[a-z]+$/i ) {
        my $problem = { type => 'text', text => "`$word` is no word: give letters from a to z." };
        tell_server( { call => $call, result => { isError => JSON::PP::true, content => [$problem] } } );
        next;
    }
    my @found = grep { lc $_ ne lc $word } @{ $words{ letters_of($word) } // [] };
    my $result = { word => $word, anagrams => \@found };
    my $content = [ { type => 'text', text => $json->encode($result) } ];
    tell_server( { call => $call, result => { content => $content, structuredContent => $result } } );
}
