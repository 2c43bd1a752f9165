// The manifests of the packages.
//
// The programs are versions of the same name, `1.2.3-linux-x64`, so that one name has to be claimed. Each is reached through an
// alias among the optional dependencies of the main package; npm installs those that fit the machine.

/** The platforms that the program for a target runs on: npm asks for one processor, and a program for macOS holds both. */
export const platforms = {
  'x86_64-unknown-linux-musl': [{ os: 'linux', cpu: 'x64' }],
  'aarch64-unknown-linux-musl': [{ os: 'linux', cpu: 'arm64' }],
  'universal-apple-darwin': [
    { os: 'darwin', cpu: 'x64' },
    { os: 'darwin', cpu: 'arm64' },
  ],
}

const suffix = ({ os, cpu }) => `${os}-${cpu}`

export function platformManifest(platform, version, repository) {
  return {
    name: 'mcp-bash',
    version: `${version}-${suffix(platform)}`,
    description: `The program mcp-bash for ${suffix(platform)}. Install mcp-bash instead`,
    // A tarball has only what is listed here. There is no `bin`: its link would take the place of that of the main package.
    files: ['bin', 'THIRD-PARTY-LICENSES', 'mcp-bash.cdx.json'],
    os: [platform.os],
    cpu: [platform.cpu],
    // Yarn would keep it in an archive, from where nothing can be started.
    preferUnplugged: true,
    license: 'MIT',
    ...links(repository),
  }
}

export function mainManifest(sdk, version, repository) {
  const all = Object.values(platforms).flat().map(suffix)
  return {
    ...sdk,
    version,
    description: 'Turns a folder of scripts into a Model Context Protocol server',
    keywords: ['mcp', 'model context protocol', 'server', 'tools', 'scripts', 'bash'],
    bin: { 'mcp-bash': 'bin/mcp-bash.mjs' },
    files: [...sdk.files, 'bin'],
    optionalDependencies: Object.fromEntries(all.map((one) => [`mcp-bash-${one}`, `npm:mcp-bash@${version}-${one}`])),
    ...links(repository),
    ...registryName(repository),
  }
}

function links(address) {
  return address ? { homepage: address, repository: { type: 'git', url: `git+${address}.git` }, bugs: `${address}/issues` } : {}
}

/** The name of the server in the MCP registry, which looks for it here. */
function registryName(address) {
  if (!address) return {}
  const [, owner] = /^https:\/\/github\.com\/([A-Za-z0-9-]+)\/[A-Za-z0-9._-]+$/.exec(address) ?? []
  if (!owner) throw new Error(`packaging/npm: REPOSITORY is ${address}, and should be https://github.com/OWNER/NAME`)
  return { mcpName: `io.github.${owner}/mcp-bash` }
}
