// Makes a clone ready to run: packages installed, the web page built, the right Node found.
// Plain JavaScript, because it is what runs on whichever Node the machine happens to have (20 or newer).

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withLock } from './lock.mjs'

/** The root of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** What every TypeScript file of this repository is run with. */
export const nodeFlags = ['--conditions=source', '--disable-warning=ExperimentalWarning']

const cacheDir = join(root, '.cache')
const consoleDir = join(root, 'packages/console')
const webDir = join(consoleDir, 'web')
/** What the page shares with the server. */
const apiDir = join(root, 'packages/sdk/src/api')
const sharedFile = join(root, 'packages/sdk/src/internal/spreadsheet-text.ts')
const webOut = join(consoleDir, 'dist/web')

/** Installs the packages where they are missing or stale, and answers the path of a Node that runs TypeScript. */
export async function setUp() {
  if (!isInstalled()) await alone(() => isInstalled() || install())
  return findNode()
}

/** Builds the web page where it is missing or stale; false when it cannot be built. */
export async function setUpWeb() {
  return isWebBuilt() || alone(() => isWebBuilt() || buildWeb())
}

/** Two processes that set up one clone at once would spoil it; the second waits, and asks again what is left to do. */
function alone(work) {
  mkdirSync(cacheDir, { recursive: true })
  return withLock(join(cacheDir, 'setup.lock'), work)
}

/**
 * The command and first arguments that start npm: the one that started us, else the one on the path.
 *
 * @returns {[string, string[]]}
 */
export function npmCommand() {
  const npm = process.env.npm_execpath
  return npm?.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []]
}

/** Runs a TypeScript file as this process would: same streams, arguments, signals and exit code. */
export async function runFile(node, file, args) {
  process.exit(await run(node, [...nodeFlags, file, ...args], { stdio: 'inherit' }))
}

/** Runs a program to its end, hands signals on to it, and answers its exit code. */
function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, options)
    const forward = (signal) => {
      // A terminal sends Ctrl-C to the child as well; sent twice it would cut a clean shutdown short.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    // Left to Node, SIGUSR1 would open a port for debuggers here; the child decides about it.
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1']
    for (const signal of signals) process.on(signal, forward)
    child.on('error', (error) => fail(`cannot start ${command}: ${error.message}`))
    child.on('exit', (code, signal) => {
      for (const name of signals) process.removeListener(name, forward)
      resolve(code ?? 128 + os.constants.signals[signal])
    })
  })
}

/** Ends with one readable line. */
export function fail(message) {
  process.stderr.write(`sonde: ${message}\n`)
  process.exit(1)
}

function say(line) {
  process.stderr.write(`${line}\n`)
}

/** npm writes its hidden lockfile when an install is complete; it is compared package by package with ours. */
export function isInstalled(folder = root) {
  const hidden = join(folder, 'node_modules/.package-lock.json')
  if (!existsSync(hidden)) return false
  const wanted = Object.entries(readPackages(join(folder, 'package-lock.json')))
  const present = readPackages(hidden)
  return wanted.every(([path, entry]) => {
    if (!path.startsWith('node_modules/')) return true
    const found = present[path]
    // The list may outlive the packages.
    if (found === undefined) return entry.optional === true
    return found.version === entry.version && existsSync(join(folder, path))
  })
}

function readPackages(lockfile) {
  return JSON.parse(readFileSync(lockfile, 'utf8')).packages
}

async function install() {
  say('Installing packages…')
  const [command, first] = npmCommand()
  // Whatever the user's npm settings leave out is needed here.
  const args = ['ci', '--include=dev', '--include=optional', '--engine-strict=false', '--no-audit', '--no-fund']
  const code = await run(command, [...first, ...args, '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] })
  if (code !== 0) fail('npm ci failed, its message is above; nothing was started')
}

function findNode() {
  const packaged = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  if (existsSync(packaged)) return packaged
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath
  return fail(
    `Node ${process.versions.node} on ${process.platform}-${process.arch} is too old; install Node 22.18 or newer`,
  )
}

function isWebBuilt() {
  if (!existsSync(join(webDir, 'index.html'))) return true
  const stamp = join(cacheDir, 'web.hash')
  return (
    existsSync(join(webOut, 'index.html')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOfWebInputs()
  )
}

async function buildWeb() {
  say('Building the web page…')
  const inputs = hashOfWebInputs()
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const args = [...nodeFlags, vite, 'build', '--logLevel', 'warn']
  const code = await run(findNode(), args, { cwd: consoleDir, stdio: ['ignore', 2, 2] })
  if (code === 0) writeFileSync(join(cacheDir, 'web.hash'), inputs)
  else say('The web page could not be built, the reason is above')
  return code === 0
}

/** The page's own files, how they are built, and the versions of what they import. */
function hashOfWebInputs() {
  const hash = createHash('sha256')
  const files = [webDir, apiDir]
    .flatMap((dir) => readdirSync(dir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
  for (const file of [...files, sharedFile, join(consoleDir, 'vite.config.ts'), join(root, 'package-lock.json')]) {
    hash.update(`${relative(root, file)}\0`).update(readFileSync(file))
  }
  return hash.digest('hex')
}
