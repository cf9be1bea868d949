// Installs the Debian packages that tests compare with. Only `npm test` does this.

import { spawnSync } from 'node:child_process'
import { installCommand, missingPackages } from '../test/debian.ts'

/**
 * Debian starts and enables the services it installs; on a developer's machine nobody asked for that. A policy file
 * that says no keeps them from starting, and is removed again; one that the machine already has is left as it is.
 */
const INSTALL = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > "$policy" && chmod +x "$policy"
fi
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@" || exit 1
if command -v systemctl > /dev/null; then
  for package in "$@"; do systemctl disable "$package" > /dev/null 2>&1; done
fi
true`

/**
 * Installs missing packages if this user may; else prints the command. Tests then skip cases without their packages.
 */
export function installDebianPackages(): void {
  const packages = missingPackages()
  if (packages.length === 0) return
  const prefix = rootPrefix()
  if (prefix === undefined) {
    console.log(`The tests that need ${packages.join(', ')} are skipped; this would install them:`)
    console.log(`  ${installCommand(packages)}`)
    return
  }
  console.log(`Installing Debian packages: ${packages.join(', ')}…`)
  const [command = 'sh', ...args] = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'sh', '-c', INSTALL, 'install']
  const result = spawnSync(command, [...args, ...packages], { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  if (result.status === 0) return
  console.log(`${result.stdout}${result.stderr}`)
  console.log(`They could not be installed; the tests that need them are skipped. The command was:`)
  console.log(`  ${installCommand(packages)}`)
}

/** What to put before a command to run it as root; undefined if this user may not, or the machine is no Debian. */
function rootPrefix(): string[] | undefined {
  if (spawnSync('apt-get', ['--version']).status !== 0) return undefined
  if (process.getuid?.() === 0) return []
  return spawnSync('sudo', ['-n', 'true']).status === 0 ? ['sudo', '-n'] : undefined
}
