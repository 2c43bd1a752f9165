{
  description = "A folder of scripts becomes a Model Context Protocol server";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEach = nixpkgs.lib.genAttrs systems;
      workspace = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
    in
    {
      packages = forEach (system:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "mcp-bash";
            version = workspace.version;
            src = self;
            cargoLock.lockFile = ./Cargo.lock;
            # The tests start browsers, agents and other things that a build has not; scripts/test runs them.
            doCheck = false;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            BUILD_COMMIT = self.rev or "";
            postInstall = ''
              $out/bin/mcp-bash man --output man
              installManPage man/*.1
              for shell in bash zsh fish; do
                $out/bin/mcp-bash completions $shell >mcp-bash.$shell
              done
              installShellCompletion mcp-bash.{bash,zsh,fish}
            '';
            meta = {
              description = "A folder of scripts becomes a Model Context Protocol server";
              homepage = workspace.repository;
              license = pkgs.lib.licenses.mit;
              mainProgram = "mcp-bash";
            };
          };
        });

      apps = forEach (system: {
        default = {
          type = "app";
          program = "${self.packages.${system}.default}/bin/mcp-bash";
        };
      });
    };
}
