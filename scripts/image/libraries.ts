// The parts of the image that are Debian's: the C and C++ libraries that Node is linked with, and the roots of TLS.

import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Arch } from './arch.ts'
import { runProgram } from './run.ts'
import type { Part } from './sbom.ts'

/** Parts of packages that no process of the image reads. Licences stay. */
const LEFT_OUT = [
  'gconv',
  'audit',
  'locale',
  'lintian',
  'gdb',
  'gcc',
  'ld.so.conf.d',
  'changelog*',
  'NEWS*',
  'README*',
  'examples',
  'man',
]
/** Where a Debian of merged folders has its libraries. Older packages use the names on the left. */
const MERGED = { lib: 'usr/lib', lib64: 'usr/lib64' }
const ROOTS = 'usr/share/ca-certificates'
/** Where OpenSSL and Node look for roots. */
const BUNDLE = 'etc/ssl/certs/ca-certificates.crt'

/**
 * Fetches the newest packages of an architecture from the package sources of this Debian, whose signatures apt checks,
 * and unpacks them into a folder. Folders of its own keep apt from changing this machine.
 */
export function stageLibraries(arch: Arch, cache: string, target: string): Part[] {
  const debs = join(cache, 'archives')
  rmSync(debs, { recursive: true, force: true })
  for (const folder of ['lists/partial', 'archives/partial', 'deb']) mkdirSync(join(cache, folder), { recursive: true })
  writeFileSync(join(cache, 'status'), '')
  const apt = (...args: string[]) => runProgram('apt-get', [...optionsOf(arch, cache), ...args], debs)
  apt('update')
  apt('install', '--download-only', '--yes', 'libstdc++6')
  apt('download', 'ca-certificates')
  for (const [name, place] of Object.entries(MERGED)) {
    mkdirSync(join(target, place), { recursive: true })
    symlinkSync(place, join(target, name))
  }
  const parts = readdirSync(debs)
    .filter((name) => name.endsWith('.deb'))
    .sort()
    .map((name) => unpack(join(debs, name), target))
  bundleRoots(target)
  return parts
}

function optionsOf(arch: Arch, cache: string): string[] {
  const settings = {
    'APT::Architecture': arch,
    'APT::Architectures': arch,
    // Without a user of its own, apt may write into folders of this user.
    'APT::Sandbox::User': 'root',
    'APT::Install-Recommends': 'false',
    'Debug::NoLocking': 'true',
    'Dir::State': cache,
    'Dir::State::lists': join(cache, 'lists'),
    // An empty list: nothing counts as installed.
    'Dir::State::status': join(cache, 'status'),
    'Dir::Cache': cache,
    'Dir::Cache::archives': join(cache, 'archives'),
  }
  return ['-qq', ...Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`])]
}

function unpack(deb: string, target: string): Part {
  const plain = `${deb}.tar`
  runProgram('sh', ['-c', 'dpkg-deb --fsys-tarfile "$1" > "$2"', 'sh', deb, plain])
  const excluded = LEFT_OUT.map((name) => `--exclude=${name}`)
  runProgram('tar', ['-xf', plain, '-C', target, '--keep-directory-symlink', '--no-same-owner', ...excluded])
  const [name = '', version = ''] = runProgram('dpkg-deb', ['-f', deb, 'Package', 'Version'])
    .trim()
    .split('\n')
    .map((line) => line.replace(/^\w+: /, ''))
  const sha256 = createHash('sha256').update(readFileSync(deb)).digest('hex')
  return { kind: 'deb', name, version, checksum: { algorithm: 'SHA256', value: sha256 } }
}

/** Puts the roots into one file, as Debian's own script does when it installs them. */
function bundleRoots(target: string): void {
  const files = globSync('**/*.crt', { cwd: join(target, ROOTS) }).sort()
  const roots = files.map((file) => readFileSync(join(target, ROOTS, file), 'utf8').trim())
  mkdirSync(join(target, 'etc/ssl/certs'), { recursive: true })
  writeFileSync(join(target, BUNDLE), `${roots.join('\n')}\n`)
  for (const folder of [ROOTS, 'usr/sbin', 'etc/ca-certificates'])
    rmSync(join(target, folder), { recursive: true, force: true })
}
