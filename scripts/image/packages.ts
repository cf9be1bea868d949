// The parts of the image that are npm's: Node, the packages that the published ones depend on, and those themselves.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { buildLibrary } from '../library.ts'
import { publishedManifest } from '../manifest.ts'
import { buildProgram, PAGE_PLACE } from '../program.ts'
import { npmCommand, root, setUpWeb } from '../setup.mjs'
import { type Arch, NPM_CPU } from './arch.ts'
import { runProgram } from './run.ts'
import type { Part } from './sbom.ts'

/** An entry of the lock file. */
interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly cpu?: readonly string[]
  readonly os?: readonly string[]
  readonly libc?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Where the image has packages: a global folder of npm, and the folder in which every file finds them. */
const MODULES = 'usr/lib/node_modules'
const FOUND_FROM_EVERYWHERE = 'node_modules'
/** What starts the command: the image has no `env` that would look for Node. */
const START = '#!/usr/bin/node\n'
/** A library that is part of the program, as the program lists its licences. */
const BUNDLED = /^(\S+) (\d\S*) · (.+)$/gm

const locked: Readonly<Record<string, Locked>> = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
).packages

/** Puts Node into a folder. */
export function stageNode(arch: Arch, cache: string, target: string): Part[] {
  const name = `node_modules/node-linux-${NPM_CPU[arch]}`
  mkdirSync(join(target, 'usr/bin'), { recursive: true })
  const folder = placeOf(name, cache)
  copyFileSync(join(folder, 'bin/node'), join(target, 'usr/bin/node'))
  mkdirSync(join(target, 'usr/share/doc/node'), { recursive: true })
  copyFileSync(join(folder, 'LICENSE'), join(target, 'usr/share/doc/node/LICENSE'))
  return [partOf(name)]
}

/** Builds the published packages into a folder, with the packages that they load. */
export async function stagePackages(arch: Arch, cache: string, target: string): Promise<Part[]> {
  const modules = join(target, MODULES)
  const [command, library] = [join(modules, 'sonde'), join(modules, '@sonde/sdk')]
  await buildProgram(join(command, 'dist'))
  if (!(await setUpWeb())) throw new Error('the page could not be built')
  cpSync(join(root, 'packages/console/dist/web'), join(command, 'dist', PAGE_PLACE), { recursive: true })
  await buildLibrary(join(library, 'dist'))
  for (const [name, folder] of [
    ['cli', command],
    ['sdk', library],
  ] as const) {
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedManifest(name), undefined, 2)}\n`)
    copyFileSync(join(root, 'packages', name, 'LICENSE'), join(folder, 'LICENSE'))
  }
  const main = join(command, 'dist/main.js')
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^#!.*\n/, START))
  chmodSync(main, 0o755)
  mkdirSync(join(target, 'usr/bin'), { recursive: true })
  symlinkSync('../lib/node_modules/sonde/dist/main.js', join(target, 'usr/bin/sonde'))
  symlinkSync(MODULES, join(target, FOUND_FROM_EVERYWHERE))
  const paths = dependenciesOf(arch, ['packages/cli', 'packages/sdk'])
  for (const path of paths)
    cpSync(placeOf(path, cache), join(target, 'usr/lib', path), {
      recursive: true,
      filter: (file) => isOwn(file, path),
    })
  const bundled = readFileSync(join(command, 'dist/LICENCES.txt'), 'utf8').matchAll(BUNDLED)
  const parts = [...bundled].map(
    ([, name = '', version = '', license = '']) => ({ kind: 'npm', name, version, license }) as const,
  )
  return [...(['cli', 'sdk'] as const).map(ownPart), ...paths.map(partOf), ...parts]
}

/** Paths in the lock file of everything that these packages load on an architecture. */
function dependenciesOf(arch: Arch, packages: readonly string[]): string[] {
  const found = new Set<string>()
  const left = [...packages]
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    const { dependencies, optionalDependencies } = locked[path] as Locked
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = lockedPlace(path, name)
      if (place === undefined || found.has(place) || !runsOn(locked[place] as Locked, arch)) continue
      found.add(place)
      left.push(place)
    }
  }
  return [...found].sort()
}

/** Where the lock file has a package that another one loads: beside it, or in a folder above. */
function lockedPlace(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = folder === '.' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in locked) return path
    if (folder === '.') return undefined
  }
}

function runsOn({ cpu, os, libc }: Locked, arch: Arch): boolean {
  const fits = (list: readonly string[] | undefined, own: string) => list === undefined || list.includes(own)
  return fits(cpu, NPM_CPU[arch]) && fits(os, 'linux') && fits(libc, 'glibc')
}

/** The folder of a package: that of this clone, or one that npm fetches because it is of another architecture. */
function placeOf(path: string, cache: string): string {
  const { version, integrity = '' } = locked[path] as Locked
  const here = join(root, path)
  if (existsSync(here)) return here
  const folder = join(cache, 'npm', `${nameOf(path)}-${version}`)
  if (existsSync(folder)) return join(folder, 'package')
  mkdirSync(`${folder}.fetched`, { recursive: true })
  const [command, first] = npmCommand()
  runProgram(command, [...first, 'pack', '--silent', `${nameOf(path)}@${version}`], `${folder}.fetched`)
  const archive = join(`${folder}.fetched`, readdirSync(`${folder}.fetched`)[0] ?? '')
  const [algorithm = '', wanted] = integrity.split(/-(.*)/)
  const digest = createHash(algorithm).update(readFileSync(archive)).digest('base64')
  if (digest !== wanted) throw new Error(`${nameOf(path)} ${version} is not the package of package-lock.json`)
  mkdirSync(folder)
  runProgram('tar', ['-xf', archive, '-C', folder, '--no-same-owner'])
  return join(folder, 'package')
}

/** Whether a file belongs to a package, and not to one below it, which has an entry of its own. */
function isOwn(file: string, path: string): boolean {
  return !file.slice(file.indexOf(path) + path.length).includes('/node_modules')
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function partOf(path: string): Part {
  const { version, license, integrity = '' } = locked[path] as Locked
  const value = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
  const checksum = { algorithm: 'SHA512', value } as const
  return { kind: 'npm', name: nameOf(path), version, checksum, ...(license === undefined ? {} : { license }) }
}

function ownPart(name: 'cli' | 'sdk'): Part {
  const { name: title, version, license } = publishedManifest(name)
  return { kind: 'npm', name: title, version, license }
}
