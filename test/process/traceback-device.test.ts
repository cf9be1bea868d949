import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { untilSource } from '../ask.ts'
import { needs } from '../debian.ts'
import { DocaDouble, type DoubleDevice } from '../doubles/doca/doca-double.ts'
import { runSonde, startSonde, until } from '../sonde-process.ts'
import { SONDE } from '../sonde-program.ts'

const NEEDS = needs('cc')
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
  // The address of the double's first device, as the guide spells addresses.
  const args = ['traceback', '-d', '10:00.0', '--config', path('sonde.yaml'), '--rules', path('rules.json')]
  return { double, path, args: [...args, '--event-log', path('events.log')] }
}

/** Runs the command until its log has what is wanted, then interrupts it, or does something else. */
async function watch(
  t: TestContext,
  args: readonly string[],
  log: string,
  wanted: (text: string) => boolean,
  end: (child: ChildProcess) => unknown = (child) => child.kill('SIGINT'),
) {
  const [node, ...flags] = SONDE
  const child = spawn(node, [...flags, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
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
  await end(child)
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

test('the compatible command refuses samples of another size, as the reference application does', NEEDS, async (t) => {
  const { args, path } = prepare(t, { facts: { stride: 8 } })
  const { code, output } = await runSonde([...args, '--compat'])
  assert.equal(code, 1, output)
  assert.match(output, /has samples of 32 bytes; allowed: 24 bytes, which are 16 and 8 for each of 1 data IDs/)
  assert.ok(!existsSync(path('events.log')) || readFileSync(path('events.log'), 'utf8') === '', 'nothing is logged')
  const { text } = await watch(t, args, path('events.log'), (log) => /^end,/m.test(log))
  assert.match(text, /^start,/m, 'without --compat they are read')
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
  const other = args.map((word) => (word === '10:00.0' ? 'mlx5_7' : word))
  const missing = await runSonde(other)
  assert.equal(missing.code, 1, missing.output)
  assert.match(missing.output, /no device is called mlx5_7; there are: mlx5_0/)
})

test('counters that a device does not have are named, all of them', NEEDS, async (t) => {
  const { args } = prepare(t, { facts: { listed_only: 1 } })
  const { code, output } = await runSonde(args)
  assert.equal(code, 1, output)
  assert.ok(output.includes(`NOT_SUPPORTED, the device or its firmware cannot do that: ${RX}`), output)
})

test(
  'the agent and the command know of each other: who holds the counters of a card, and the way out',
  NEEDS,
  async (t) => {
    const { double, path, args: given } = prepare(t, { pci: '0000:3a:00.0' })
    const args = given.map((word) => (word === '10:00.0' ? '3a:00.0' : word))
    // Another function of the card, in another process.
    double.play({ mlx5_0: { pci: '0000:3a:00.0' }, mlx5_1: { pci: '0000:3a:00.1' } })
    const source = {
      type: 'doca_telemetry_diag',
      accept_taint: true,
      devices: ['mlx5_1'],
      counters: ['port_rx_bytes'],
      high_frequency: true,
    }
    const config = { native: { doca_library: double.folder }, data_sources: [{ ...source, interval_ms: 100 }] }
    writeFileSync(path('agent.yaml'), JSON.stringify(config))
    const sonde = await startSonde(['agent', '--config', path('agent.yaml')])
    t.after(() => sonde.stop('SIGKILL'))
    const diag = 'doca_telemetry_diag'
    await untilSource(sonde, diag, 'reading', ({ state }) => state === 'reading')
    const { code, output } = await runSonde(args)
    assert.equal(code, 1, output)
    const { pid } = sonde.child
    assert.match(
      output,
      new RegExp(`IN_USE, \`sonde agent\` \\(process ${pid}, since 20\\d\\d-.*Z\\) holds the counters`),
    )
    assert.match(output, /stop it, or take them from it with --force-ownership/)
    const forced = await watch(
      t,
      [...args, '--force-ownership'],
      path('events.log'),
      (log) => /^end,/m.test(log),
      async (child) => {
        const told = await untilSource(sonde, diag, 'it let go', ({ state }) => state === 'failed')
        assert.match(told.reason, new RegExp(`\`sonde traceback\` \\(process ${child.pid}, since`))
        child.kill('SIGINT')
      },
    )
    assert.equal(forced.code, 0, forced.said)
    const back = await untilSource(sonde, diag, 'reading again', ({ state }) => state === 'reading')
    assert.equal(back.restarts, 0)
  },
)

/** A rule that always holds, and one more counter. */
const TX = '0x1140000100000000'
const ALWAYS = {
  ...RULES,
  'data-ids': [
    { name: 'rx', data_id: RX },
    { name: 'tx', data_id: TX },
  ],
  rules: [{ name: 'always', data_id: RX, comparison_type: 'rate_gt', comparison_value: 1, window_ms: 1 }],
}
const samplesOf = (text: string) => text.split('\n').filter((line) => line.startsWith('sample,'))

for (const misdeed of ['is removed', 'hangs'] as const)
  test(
    `a device that ${misdeed} in the middle of an event ends the run: the event ends as failed, exit code 1`,
    NEEDS,
    async (t) => {
      const { double, args, path } = prepare(t, {}, ALWAYS)
      const begun = (log: string) => samplesOf(log).length > 2000
      const { code, text, said } = await watch(t, args, path('events.log'), begun, () => {
        const faults = ['hang doca_telemetry_diag_query_counters']
        double.play(misdeed === 'hangs' ? { mlx5_0: { faults } } : {})
      })
      assert.equal(code, 1, said)
      assert.match(text, /^end,.*,failed$/m)
      assert.match(said, misdeed === 'hangs' ? /10:00.0.*(stuck|took more than)/ : /10:00.0/)
    },
  )

test('defect 2: the device keeps more samples than the history, and a slow read loses none', NEEDS, async (t) => {
  // 25 ms a query: 250 samples, where the reference application would have room for two.
  const { double, args, path } = prepare(t, { faults: ['cost doca_telemetry_diag_query_counters 25000 sleep'] }, ALWAYS)
  const { code, text, said } = await watch(t, args, path('events.log'), (log) => samplesOf(log).length > 3000)
  assert.equal(code, 0, said)
  assert.doesNotMatch(text, /^note,.*gap/m)
  assert.equal(double.total('mlx5_0 lost'), 0)
})

test('defect 5: of each sample its values alone are copied, whatever lies behind them', NEEDS, async (t) => {
  const { args, path } = prepare(t, { facts: { stride: 24, burst_every_us: 0 } }, ALWAYS)
  const { code, text, said } = await watch(t, args, path('events.log'), (log) => samplesOf(log).length > 2000)
  assert.equal(code, 0, said)
  const rows = samplesOf(text).map((line) => line.split(',').slice(-2).map(BigInt) as [bigint, bigint])
  for (const column of [0, 1] as const) {
    const steps = rows.slice(1).map((row, at) => Number(row[column] - (rows[at] as [bigint, bigint])[column]))
    const usual = steps[0] as number
    assert.ok(usual > 0)
    // Without bursts a counter rises evenly; the device rounds to microseconds.
    assert.ok(
      steps.every((step) => Math.abs(step - usual) <= usual / 50),
      `${column}: ${steps.find((step) => Math.abs(step - usual) > usual / 50)} beside ${usual}`,
    )
  }
})

test('defect 22: what was never started is not stopped, and all of it is given back', NEEDS, async (t) => {
  const faults = ['error doca_telemetry_diag_set_* DOCA_ERROR_NOT_PERMITTED', 'segv doca_telemetry_diag_stop']
  const { double, args } = prepare(t, { faults }, ALWAYS)
  const { code, output } = await runSonde(args)
  assert.equal(code, 1, output)
  assert.match(output, /set_output_format answers NOT_PERMITTED/)
  assert.doesNotMatch(output, /BAD_STATE|doca_telemetry_diag_stop/)
  for (const kept of ['opens', 'contexts', 'lists']) assert.equal(double.total(kept), 0, kept)
})
