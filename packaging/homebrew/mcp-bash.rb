class McpBash < Formula
  desc "Turn a folder of scripts into a Model Context Protocol server"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    url "@REPOSITORY@/releases/download/v@VERSION@/mcp-bash-@VERSION@-universal-apple-darwin.tar.gz"
    sha256 "@SHA256:universal-apple-darwin@"
  end

  on_linux do
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/mcp-bash-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:x86_64-unknown-linux-musl@"
    end
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/mcp-bash-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:aarch64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "mcp-bash"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/mcp-bash.bash" => "mcp-bash"
    zsh_completion.install "completions/_mcp-bash"
    fish_completion.install "completions/mcp-bash.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/mcp-bash --version")
    (testpath/"tools/hi.sh").write "#!/bin/sh\necho hello\n"
    chmod "+x", testpath/"tools/hi.sh"
    assert_match "hello", shell_output("#{bin}/mcp-bash call hi --project-root #{testpath}")
  end
end
