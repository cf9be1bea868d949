import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeSamples } from '../../packages/agent/src/traceback/feed/test-samples.ts'
import { temporaryDir, until } from '../sonde-process.ts'
import { SONDE } from '../sonde-program.ts'

const ID = '0x1020000100000000'
/** Holes of a file read as samples of zeros: more of them than a test takes. Unit: bytes. */
const ENDLESS_BYTES = 64 * 1024 ** 3
const LIMIT_MS = 30_000
/** Root as a user who may not read everything. */
const WITHOUT_RIGHTS =
  process.getuid?.() === 0
    ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-dac_override,-dac_read_search']
    : []

interface Running {
  readonly child: ChildProcess
  readonly path: (name: string) => string
  readonly said: () => string
  readonly ended: Promise<number | string>
}

/** Runs the command over samples without an end, of which a rule is active from the first on. */
function start(
  t: TestContext,
  flags: readonly string[] = [],
  under: readonly string[] = [],
  { mode = 0o644 } = {},
): Running {
  const dir = temporaryDir()
  const path = (name: string) => join(dir.path, name)
  const rules = [{ name: 'r', data_id: ID, comparison_type: 'lt', comparison_value: 10 }]
  const book = {
    diag_sample_period_ns: 100_000,
    sample_history_depth: 1,
    'data-ids': [{ name: 'rx', data_id: ID }],
    rules,
  }
  writeFileSync(path('rules.json'), JSON.stringify(book))
  writeSamples(path('samples'), Array(2000).fill([0n]), { dataIds: [BigInt(ID)] })
  truncateSync(path('samples'), ENDLESS_BYTES)
  chmodSync(path('samples'), mode)
  const words = [
    'traceback',
    '-d',
    `file:${path('samples')}`,
    '--rules',
    path('rules.json'),
    '--event-log',
    path('log'),
    ...flags,
  ]
  const [program = '', ...args] = [...under, ...SONDE, ...words]
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said += chunk
  })
  const ended = once(child, 'close').then(([code, signal]) => signal ?? code)
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    dir.remove()
  })
  return { child, path, said: () => said, ended }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

async function hasSamples({ path, said }: Running): Promise<void> {
  await until(`samples in the log; said: ${said()}`, LIMIT_MS, () => sizeOf(path('log')) > 100_000 || undefined)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  test(`defects 12 and 26: ${signal} closes open events with the reason, at once`, async (t) => {
    const running = start(t)
    await hasSamples(running)
    running.child.kill(signal)
    assert.equal(await running.ended, 0)
    const log = readFileSync(running.path('log'), 'utf8')
    assert.match(log, /\nend,[^\n]*,\d+,"r",stopped\n(note,[^\n]*\n)+$/)
    assert.match(log, new RegExp(`,stopped,"stopped by ${signal}"\n$`))
  })

test('--compat: SIGINT is exit code 0, and an active rule gets no end row', async (t) => {
  const running = start(t, ['--compat'])
  await hasSamples(running)
  running.child.kill('SIGINT')
  // The holes of the file have stamps of 0, which is no fault.
  assert.equal(await running.ended, 0)
  const log = readFileSync(running.path('log'), 'latin1')
  assert.ok(log.includes('<<Event start>>') && !log.includes('<<Event end>>') && log.endsWith('\n'))
})

test('kill -9 leaves whole rows', async (t) => {
  const running = start(t, ['--max-event-bytes', '4096'])
  await hasSamples(running)
  running.child.kill('SIGKILL')
  assert.equal(await running.ended, 'SIGKILL')
  const log = readFileSync(running.path('log'), 'utf8')
  assert.ok(log.endsWith('\n'))
  const rows = log.split('\n').filter((row) => row.startsWith('sample,'))
  assert.ok(rows.length > 1000 && rows.every((row) => row.split(',').length === 4))
})

test('defect 25: a full disk ends no run: whole rows stay, the loss is told, and the exit code is 1', async (t) => {
  const running = start(t, [], ['prlimit', '--fsize=300000:unlimited'])
  await until('a full disk', LIMIT_MS, () => /cannot be written.*EFBIG/.test(running.said()) || undefined)
  running.child.kill('SIGTERM')
  assert.equal(await running.ended, 1)
  assert.match(running.said(), /\d+ rows of the events log were not written: EFBIG/)
  const log = readFileSync(running.path('log'), 'utf8')
  assert.ok(log.length <= 300_000 && log.endsWith('\n'))
})

test('a disk that has room again is told the loss and the end of the event, and the next event works', async (t) => {
  const running = start(t, ['--events-per-minute', '1000'], ['prlimit', '--fsize=300000:unlimited'])
  await until('a full disk', LIMIT_MS, () => /cannot be written.*EFBIG/.test(running.said()) || undefined)
  execFileSync('prlimit', [`--pid=${running.child.pid}`, '--fsize=unlimited:unlimited'])
  await until('rows again', LIMIT_MS, () => sizeOf(running.path('log')) > 400_000 || undefined)
  running.child.kill('SIGTERM')
  assert.equal(await running.ended, 1)
  const log = readFileSync(running.path('log'), 'utf8')
  assert.match(log, /\nnote,[^\n]*,lost,"\d+ rows were not written: EFBIG[^\n]*"\nend,[^\n]*,"r",truncated\n/)
  assert.ok(/\nstart,[^\n]*,"r",late\n/.test(log), 'the rule that is active still has another event')
})

test('without the rights the exit code is 3, and a sentence says which', async (t) => {
  const running = start(t, [], WITHOUT_RIGHTS, { mode: 0 })
  assert.equal(await running.ended, 3)
  assert.match(running.said(), /samples cannot be read: give this user the permission, or run as root\n$/)
})

test('a storm of signals closes open events once, and the exit code stays 0', async (t) => {
  const running = start(t)
  await hasSamples(running)
  const { child, path } = running
  for (let index = 0; index < 300; index++) child.kill((['SIGINT', 'SIGTERM', 'SIGHUP'] as const)[index % 3])
  assert.equal(await running.ended, 0)
  const log = readFileSync(path('log'), 'utf8')
  assert.match(log, /,stopped,"stopped by SIG[A-Z]+"\n$/)
  assert.equal(log.match(/^end,/gm)?.length, log.match(/^start,/gm)?.length)
})

test('a second run on the same log is refused, and the first one goes on', async (t) => {
  const first = start(t)
  await hasSamples(first)
  for (const more of [[], ['--append']]) {
    const second = start(t, ['--event-log', first.path('log'), ...more])
    assert.equal(await second.ended, 1)
    assert.match(second.said(), /another process writes it; choose another --event-log/)
  }
  const before = sizeOf(first.path('log'))
  await until('more rows', LIMIT_MS, () => sizeOf(first.path('log')) > before || undefined)
  first.child.kill('SIGINT')
  assert.equal(await first.ended, 0)
  const third = start(t, ['--event-log', first.path('log')])
  await until('the next run', LIMIT_MS, () => sizeOf(`${first.path('log')}.1`) > 0 || undefined)
  third.child.kill('SIGINT')
  assert.equal(await third.ended, 0)
})
