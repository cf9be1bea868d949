import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { needs } from '../debian.ts'
import { DocaDouble, type DoubleDevice } from '../doubles/doca/doca-double.ts'
import { runSonde, until } from '../sonde-process.ts'

const NEEDS = needs('cc')
const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const RX = '0x1020000100000000'
/** A burst a millisecond: the counter of the double rises by some 0.4 M in 100 µs, and by 3.7 M in a burst. */
const RULES = {
  diag_sample_period_ns: 100_000,
  sample_history_depth: 2,
  'data-ids': [{ name: 'port_rx_bytes', data_id: RX }],
  rules: [{ name: 'burst', data_id: RX, comparison_type: 'dt_gt', comparison_value: 2_000_000 }],
}
const LIMIT_MS = 60_000

/** A folder with rules and a configuration for the double. */
function prepare(t: TestContext, device: DoubleDevice, rules: object = RULES) {
  const double = new DocaDouble(t)
  double.play({ mlx5_0: device })
  const folder = mkdtempSync(join(tmpdir(), 'sonde-traceback-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = (name: string) => join(folder, name)
  writeFileSync(path('rules.json'), JSON.stringify(rules))
  writeFileSync(path('sonde.yaml'), JSON.stringify({ native: { doca_library: double.folder } }))
  const args = ['traceback', '-d', 'mlx5_0', '--config', path('sonde.yaml'), '--rules', path('rules.json')]
  return { path, args: [...args, '--event-log', path('events.log')] }
}

/** Runs the command until its log has what is wanted, then interrupts it. */
async function watch(t: TestContext, args: readonly string[], log: string, wanted: (text: string) => boolean) {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk
  })
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code ?? -1)),
  )
  await until('the log', LIMIT_MS, () => {
    assert.equal(child.exitCode, null, said)
    return existsSync(log) && wanted(readFileSync(log, 'utf8')) ? true : undefined
  })
  child.kill('SIGINT')
  return { code: await ended, said, text: readFileSync(log, 'utf8') }
}

const startsOf = (text: string) => text.match(/<<Event start>>/g)?.length ?? 0

test('the compatible command logs the bursts of a device as the reference application would', NEEDS, async (t) => {
  const { args, path } = prepare(t, {})
  const { code, text, said } = await watch(t, [...args, '--compat'], path('events.log'), (log) => startsOf(log) >= 3)
  assert.equal(code, 0, said)
  const lines = text.split('\n')
  assert.equal(lines[0], 'Telemetry monitor : 3.4.0012')
  const first = lines.findIndex((line) => line.startsWith('<<Event start>>'))
  assert.match(lines[first] ?? '', /^<<Event start>> Time: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, Rule: "burst"$/)
  const rows = lines.slice(0, first).filter((line) => /^\d+, \d+$/.test(line))
  const samples = rows.map((row) => row.split(', ').map(BigInt) as [bigint, bigint])
  assert.ok(samples.length > 2 && samples.length <= 4, `${samples.length} rows of history`)
  // The last sample of the history is the burst: over two samples it rose by more than the rule asks.
  const [last = 0n, before = 0n] = [samples.at(-1)?.[1], samples.at(-3)?.[1]]
  assert.ok(last - before > 2_000_000n)
  // Stamps are seconds in the high word, nanoseconds in the low one.
  const ns = samples.map(([stamp]) => (stamp >> 32n) * 1_000_000_000n + (stamp & 0xffff_ffffn))
  for (const [at, time] of ns.entries()) if (at > 0) assert.equal(Number(time - (ns[at - 1] ?? 0n)), 100_000)
})

test(
  'without --compat its log says times, and a device that lengthens its period is watched all the same',
  NEEDS,
  async (t) => {
    const { args, path } = prepare(t, { facts: { min_period_ns: 200_000 } })
    const { code, text, said } = await watch(t, args, path('events.log'), (log) => /^end,/m.test(log))
    assert.equal(code, 0, said)
    assert.match(said, /samples every 200000 ns, not 100000 ns/)
    assert.match(text, /^start,/m)
    assert.match(text, /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z/)
  },
)

test('a device that is not there, and counters that it does not have, are said', NEEDS, async (t) => {
  const { args } = prepare(t, {})
  const other = args.map((word) => (word === 'mlx5_0' ? 'mlx5_7' : word))
  const missing = await runSonde(other)
  assert.equal(missing.code, 1, missing.output)
  assert.match(missing.output, /no device is called mlx5_7; there are: mlx5_0/)
})
