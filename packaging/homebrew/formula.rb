# Reads a formula as Homebrew does, on a machine that it names, and prints what it downloads and what it installs:
#
#   ruby formula.rb FORMULA macos|linux intel|arm ROOT       ROOT is the unpacked archive
#
# It stands in for Homebrew, which is not on the machines of the tests: it knows only the words that the formula uses.
system, processor, root = ARGV[1..]

class Place
  def initialize(name, root)
    @name = name
    @root = root
  end

  def install(*things)
    things.flatten.flat_map { |thing| thing.is_a?(Hash) ? thing.keys : thing }.each do |file|
      abort "#{file} is not in the archive" unless File.file?(File.join(@root, file))
      puts "#{@name} #{file}"
    end
  end
end

class Formula
  class << self
    attr_accessor :here, :tests

    def url(address) = puts("url #{address}")
    def sha256(sum) = puts("sha256 #{sum}")
    def version(text) = puts("version #{text}")
    def desc(_text) = nil
    def homepage(_address) = nil
    def license(_name) = nil
    def test(&block) = (self.tests = block)

    %w[macos linux intel arm].each { |word| define_method("on_#{word}") { |&block| block.call if Formula.here.include?(word) } }
  end

  %w[bin man1 bash_completion zsh_completion fish_completion].each do |name|
    define_method(name) { Place.new(name, Dir.pwd) }
  end
end

Formula.here = [system, processor]
load ARGV[0]
abort 'there is no test in the formula' unless McpBash.tests
Dir.chdir(root) { McpBash.new.install }
