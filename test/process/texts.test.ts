// An application may report any number of different texts: none of them is lost, and none keeps a new series out.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { metricsOf } from '../ask.ts'
import { startRead } from '../dtb/sonde-read.ts'
import { assertStops, startSonde, temporaryDir } from '../sonde-process.ts'

const CLIENT = fileURLToPath(new URL('text-client-main.ts', import.meta.url))
/** Some more than three times the labels of a source. */
const TEXTS = 200_000
const SERIES = 10

/** Runs the application to its end; gives what it said. */
async function report(t: TestContext, folder: string, way: 'ipc' | 'files'): Promise<string> {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const args = [...flags, CLIENT, folder, `${TEXTS}`, `${SERIES}`, way]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 0, output)
  return output
}

/** All texts and series, as `sonde read` prints them. */
async function readBack(t: TestContext, ...args: readonly string[]): Promise<void> {
  const read = startRead(t, '--type', 'note', '--format', 'jsonl', ...args)
  assert.equal(await read.ended, 0, read.lines().at(-1))
  const notes = read.lines().map((line) => JSON.parse(line).record as { desk: string; words: string })
  const words = new Map<string, number>()
  for (const note of notes) if (note.desk === 'first') words.set(note.words, (words.get(note.words) ?? 0) + 1)
  assert.equal(words.size, TEXTS)
  for (let i = 0; i < TEXTS; i++) assert.equal(words.get(`note ${i} of many`), 1)
  const rest = notes.filter(({ desk }) => desk !== 'first').map(({ desk, words }) => `${desk}: ${words}`)
  assert.deepEqual(
    rest.sort(),
    Array.from({ length: SERIES }, (_, i) => `new ${i}: the same`),
  )
}

test('200 000 different texts of an application, and ten new series after them, reach views, files and store', async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  const data = join(dir.path, 'data')
  const env = {
    SONDE_SERVICE_ENABLED: 'true',
    XDG_RUNTIME_DIR: dir.path,
    SONDE_EXPORT_FILES_ENABLED: 'true',
  }
  const sonde = await startSonde(['up', '--data-dir', data, '--only-simulated', '--simulate'], { env })
  t.after(() => sonde.stop('SIGKILL'))
  assert.match(await report(t, join(dir.path, 'sonde'), 'ipc'), /^done \{\}$/m)
  assert.doesNotMatch(await metricsOf(sonde), /symbol_limit/)
  await readBack(t, join(data, 'data'))
  await readBack(t, '--store', data)
  await assertStops(sonde)
})

test('the same with files alone', async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  assert.match(await report(t, dir.path, 'files'), /^done \{\}$/m)
  await readBack(t, dir.path)
})
