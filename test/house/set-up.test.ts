import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { isInstalled, root } from '../../scripts/setup.mjs'

const LOCK = pathToFileURL(join(root, 'scripts/lock.mjs')).href

function emptyFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-setup-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Runs a TypeScript program through `run.mjs`. */
function runProgram(context: TestContext, program: string, args: string[] = [], env = process.env): ChildProcess {
  const file = join(emptyFolder(context), 'program.ts')
  writeFileSync(file, program)
  const child = spawn(process.execPath, [join(root, 'scripts/run.mjs'), file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  })
  context.after(() => child.kill('SIGKILL'))
  return child
}

async function streamText(stream: AsyncIterable<Buffer> | null): Promise<string> {
  let text = ''
  for await (const chunk of stream ?? []) text += chunk
  return text
}

test('run.mjs hands arguments, output and exit code through', async (context) => {
  const program = `const words: string[] = process.argv.slice(2)
    console.log(JSON.stringify(words)); console.error('to stderr'); process.exitCode = 3`
  const child = runProgram(context, program, ['--listen', ':0', 'two words'])
  const [stdout, stderr, [code]] = await Promise.all([
    streamText(child.stdout),
    streamText(child.stderr),
    once(child, 'exit'),
  ])
  assert.equal(stdout, '["--listen",":0","two words"]\n')
  assert.equal(stderr, 'to stderr\n')
  assert.equal(code, 3)
})

for (const [signal, code] of [
  ['SIGTERM', 7],
  ['SIGINT', 8],
] as const) {
  test(`run.mjs forwards ${signal} and ends with the code of its child`, async (context) => {
    const program = `process.on('${signal}', () => process.exit(${code})); setInterval(() => {}, 1000); console.log('ready')`
    const child = runProgram(context, program)
    await once(child.stdout ?? child, 'data')
    child.kill(signal)
    assert.deepEqual(await once(child, 'exit'), [code, null])
  })
}

test('run.mjs ends with 128 and the number of the signal that ended its child', async (context) => {
  const child = runProgram(context, "process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)")
  assert.deepEqual(await once(child, 'exit'), [137, null])
})

test('run.mjs calls no other program when nothing is to do', async (context) => {
  const nothingElse = { ...process.env, PATH: emptyFolder(context) }
  const child = runProgram(context, "console.log('ran')", [], nothingElse)
  const [stdout, stderr, [code]] = await Promise.all([
    streamText(child.stdout),
    streamText(child.stderr),
    once(child, 'exit'),
  ])
  assert.deepEqual({ stdout, stderr, code }, { stdout: 'ran\n', stderr: '', code: 0 })
})

test('an install is complete when every package of the lockfile is there in its version', (context) => {
  const folder = emptyFolder(context)
  const write = (file: string, packages: object) => writeFileSync(join(folder, file), JSON.stringify({ packages }))
  const hidden = 'node_modules/.package-lock.json'
  const wanted = {
    '': { name: 'root' },
    'packages/a': { version: '0.1.0' },
    'node_modules/x': { version: '1.0.0' },
    'node_modules/arm-only': { version: '1.0.0', optional: true },
  }
  write('package-lock.json', wanted)
  assert.equal(isInstalled(folder), false, 'nothing is installed')
  mkdirSync(join(folder, 'node_modules'))
  write(hidden, { 'node_modules/x': { version: '1.0.0' } })
  assert.equal(isInstalled(folder), false, 'the list names a package that is not there')
  mkdirSync(join(folder, 'node_modules/x'))
  assert.equal(isInstalled(folder), true, 'an optional package of another machine may be missing')
  write('package-lock.json', { ...wanted, 'node_modules/x': { version: '1.0.1' } })
  assert.equal(isInstalled(folder), false, 'a version changed')
  write('package-lock.json', { ...wanted, 'node_modules/y': { version: '1.0.0' } })
  assert.equal(isInstalled(folder), false, 'a package was added')
})

test('the lockfile holds every package that another names, or npm ci would refuse it', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dependencies?: object; optionalDependencies?: object }>
  }
  const present = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)))
  const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !present.has(name))
      .map((name) => `${path} names ${name}`),
  )
  assert.deepEqual(missing, [])
})

/** A process that takes the lock, appends `in` and `out` to a log around a moment of work, and ends. */
function worker(folder: string): ChildProcess {
  const program = `import { appendFileSync } from 'node:fs'
    import { withLock } from ${JSON.stringify(LOCK)}
    const log = line => appendFileSync(${JSON.stringify(join(folder, 'log'))}, line + '\\n')
    await withLock(${JSON.stringify(join(folder, 'lock'))}, async () => {
      log('in')
      await new Promise(resolve => setTimeout(resolve, 50))
      log('out')
    })`
  return spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'ignore', 'inherit'] })
}

test('only one process at a time is inside the lock, and it is gone afterwards', async (context) => {
  const folder = emptyFolder(context)
  await Promise.all(Array.from({ length: 4 }, () => once(worker(folder), 'exit')))
  assert.deepEqual(readFileSync(join(folder, 'log'), 'utf8'), 'in\nout\n'.repeat(4))
  assert.equal(existsSync(join(folder, 'lock')), false)
})

test('a lock whose owner is gone is taken over, also when its process id is in use again', async (context) => {
  const folder = emptyFolder(context)
  for (const owner of ['999999999 12345', `${process.pid} 1`, '']) {
    writeFileSync(join(folder, 'lock'), owner)
    await once(worker(folder), 'exit')
  }
  assert.equal(readFileSync(join(folder, 'log'), 'utf8'), 'in\nout\n'.repeat(3))
})
