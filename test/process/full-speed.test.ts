import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startSonde, temporaryDir } from '../sonde-process.ts'

const MAIN = fileURLToPath(new URL('full-speed-main.ts', import.meta.url))
/** 24 bytes each: five times what the queue of the sink holds. */
const COUNT = 220_000
const BLOCKED =
  /the program reported more than half of \w+ without letting the event loop turn.*await source\.ready\(\)/

function folder(t: TestContext): string {
  const { path, remove } = temporaryDir()
  t.after(remove)
  return path
}

async function run(t: TestContext, ...args: string[]): Promise<{ lines: string[]; warned: string }> {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, MAIN, ...args])
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  let warned = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    warned += text
  })
  await once(child, 'close')
  return { lines: said.trim().split('\n'), warned }
}

test('a loop at full speed that awaits ready loses nothing in files', async (t) => {
  const { lines, warned } = await run(t, 'files', folder(t), `${COUNT}`, 'ready')
  assert.deepEqual([lines, warned], [[`out ${COUNT}`], ''])
})

test('a loop at full speed that never waits is told by flush, close and one warning that it blocked the event loop', async (t) => {
  for (const where of ['files', 'ipc']) {
    const { lines, warned } = await run(t, where, folder(t), `${COUNT}`, 'blind')
    assert.match(lines[0] ?? '', /^TEL_LOST .* (dropped|lost) \d+ records/)
    assert.match(lines[0] ?? '', BLOCKED)
    assert.equal(warned.match(/drops records as/g)?.length, 1, warned)
    assert.match(warned, BLOCKED)
  }
})

test('a loop at full speed that awaits ready loses nothing on its way to a service', async (t) => {
  const path = folder(t)
  const env = { SONDE_SERVICE_ENABLED: 'true', XDG_RUNTIME_DIR: path }
  const sonde = await startSonde(['agent', '--only-simulated', '--simulate'], { env })
  t.after(() => sonde.stop('SIGKILL'))
  const { lines, warned } = await run(t, 'ipc', join(path, 'sonde'), `${COUNT}`, 'ready')
  assert.deepEqual([lines, warned], [[`out ${COUNT}`], ''])
})

test('a loop that awaits ready goes on without a service, and is told what was dropped', async (t) => {
  const { lines } = await run(t, 'ipc', folder(t), `${COUNT}`, 'ready')
  assert.match(lines[0] ?? '', /^TEL_LOST .* dropped \d+ records \(\d+ spool_full: the service was away, or slow/)
})
