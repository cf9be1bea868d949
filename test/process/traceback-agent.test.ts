// Rules of the agent on a device of the DOCA libraries, through the double: events of what the device samples.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { IncidentsAnswer, TracebackEvent } from '@sonde/sdk/api'
import { eventsIn } from '../../packages/agent/test/events-in.ts'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { DocaDouble, type DoubleDevice } from '../doubles/doca/doca-double.ts'
import { assertStops, runSonde, type SondeProcess, startSonde, until } from '../sonde-process.ts'

const NEEDS = needs('cc')
const RX = '0x1020000100000000'
const LIMIT_MS = 60_000
/** The counter of the double rises by some 4 bytes a nanosecond, and by nine times that in a burst. */
const BURST = { name: 'burst', data_id: RX, comparison_type: 'dt_gt', comparison_value: 2_000_000 }
const ALWAYS = { name: 'always', data_id: RX, comparison_type: 'rate_gt', comparison_value: 1, window_ms: 1 }
/** A burst of 100 ms each 400 ms. */
const BURSTS: DoubleDevice = { facts: { burst_every_us: 400_000, burst_us: 100_000 } }

/** A burst lasted as long as it does, but for the two ends of it, which are as exact as the event says. */
function assertLasted({ startMs, endMs = 0, errorMs }: TracebackEvent, where = ''): void {
  const lastedMs = endMs - startMs
  assert.ok(Math.abs(lastedMs - 100) < 10 + 2 * errorMs, `${lastedMs} ms, each end within ${errorMs} ms ${where}`)
}

/** An agent that samples the first device of the double each 100 µs, with these rules. */
function start(t: TestContext, device: DoubleDevice, ...rules: readonly object[]) {
  return startOn(t, { mlx5_0: device, mlx5_1: {} }, { devices: ['mlx5_0'], rules })
}

/** An agent that samples these devices of the double each 100 µs, with these rules. */
async function startOn(
  t: TestContext,
  played: Readonly<Record<string, DoubleDevice>>,
  { devices, rules }: { readonly devices: readonly string[]; readonly rules: readonly object[] },
) {
  const double = new DocaDouble(t)
  double.play(played)
  const folder = mkdtempSync(join(tmpdir(), 'sonde-traceback-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = (name: string) => join(folder, name)
  const book = {
    ...{ diag_sample_period_ns: 100_000, sample_history_depth: 2 },
    ...{ 'data-ids': [{ name: 'port_rx_bytes', data_id: RX }], rules },
  }
  writeFileSync(path('rules.json'), JSON.stringify(book))
  const source = {
    type: 'doca_telemetry_diag',
    accept_taint: true,
    high_frequency: true,
    counters: [RX],
    devices,
    stuck_ms: 300,
  }
  const config = {
    native: { doca_library: double.folder },
    data_sources: [source],
    traceback: { rules: path('rules.json'), dir: path('events'), before_ms: 50, after_ms: 10 },
  }
  writeFileSync(path('sonde.yaml'), JSON.stringify(config))
  const sonde = await startSonde(['agent', '--config', path('sonde.yaml')])
  t.after(() => sonde.stop('SIGKILL'))
  return { double, sonde, path }
}

function eventIn(
  sonde: SondeProcess,
  what: string,
  holds: (event: TracebackEvent) => boolean,
): Promise<TracebackEvent> {
  return until(what, LIMIT_MS, async () => {
    const { events } = eventsIn(await ask<IncidentsAnswer>(sonde, '/api/v1/incidents?kind=event&limit=1000'))
    return events.find(holds)
  })
}

test('a burst of a device of the DOCA libraries opens and closes an event, with its samples', NEEDS, async (t) => {
  const { sonde, path } = await start(t, BURSTS, BURST)
  const first = await eventIn(sonde, 'a burst', ({ end }) => end === 'cleared')
  // The first may have begun before there were samples.
  const event = await eventIn(sonde, 'the next', ({ startMs, end }) => startMs > first.startMs && end === 'cleared')
  assert.deepEqual([event.rule, event.source], ['burst', 'doca_telemetry_diag'])
  assertLasted(event)
  assert.ok(event.samples >= 1400, `${event.samples} samples`)
  const { code, output } = await runSonde(['read', '--stats', path(`events/${event.id}.bin`)])
  assert.equal(code, 0, output)
  await assertStops(sonde)
})

test(
  'a device that is removed in the middle of an event ends it, and one that returns begins another',
  NEEDS,
  async (t) => {
    const { double, sonde } = await start(t, {}, ALWAYS)
    const open = await eventIn(sonde, 'an event', ({ samples }) => samples > 1000)
    double.play({ mlx5_1: {} })
    const gone = await eventIn(sonde, 'its end', ({ id, end }) => id === open.id && end !== undefined)
    assert.equal(gone.end, 'lost')
    assert.ok(gone.samples > 1000)
    double.play({ mlx5_0: {}, mlx5_1: {} })
    const next = await eventIn(sonde, 'another', ({ id, samples }) => id !== open.id && samples > 1000)
    assert.deepEqual([next.rule, next.end], ['always', undefined])
    await assertStops(sonde)
  },
)

test(
  'a device that hangs in the middle of an event ends it; when it answers again, another begins',
  NEEDS,
  async (t) => {
    const { double, sonde, path } = await start(t, {}, ALWAYS)
    const open = await eventIn(sonde, 'an event', ({ samples }) => samples > 1000)
    double.play({ mlx5_0: { faults: ['hang doca_telemetry_diag_query_counters'] }, mlx5_1: {} })
    const hung = await eventIn(sonde, 'its end', ({ id, end }) => id === open.id && end !== undefined)
    assert.equal(hung.end, 'lost')
    const { code, output } = await runSonde(['read', '--stats', path(`events/${hung.id}.bin`)])
    assert.equal(code, 0, output)
    double.play({ mlx5_0: {}, mlx5_1: {} })
    await eventIn(sonde, 'another', ({ id, samples }) => id !== open.id && samples > 1000)
    await assertStops(sonde)
  },
)

for (const misdeed of ['hangs', 'is removed'] as const)
  test(`while a device ${misdeed} in the middle of an event, events of another come as before`, NEEDS, async (t) => {
    // The rule holds on the first device as long as it answers, and on the second in each of its bursts.
    const steady = { facts: { burst_every_us: 0 } }
    const rules = [{ ...BURST, name: 'low', comparison_type: 'dt_lt' }, BURST]
    const devices = ['mlx5_0', 'mlx5_1']
    const { double, sonde } = await startOn(t, { mlx5_0: steady, mlx5_1: BURSTS }, { devices, rules })
    const isOf = (event: TracebackEvent, device: string) => event.device.includes(device)
    const open = await eventIn(sonde, 'an event', (event) => isOf(event, 'mlx5_0') && event.samples > 1000)
    await eventIn(sonde, 'a burst', (event) => isOf(event, 'mlx5_1') && event.end === 'cleared')
    const hanging = { ...steady, faults: ['hang doca_telemetry_diag_query_counters'] }
    double.play({ ...(misdeed === 'hangs' ? { mlx5_0: hanging } : {}), mlx5_1: BURSTS })
    const lost = await eventIn(sonde, 'its end', ({ id, end }) => id === open.id && end !== undefined)
    assert.deepEqual([lost.end, lost.rule], ['lost', 'low'])
    const bursts = await until('bursts from before that to behind it', LIMIT_MS, async () => {
      const { events } = eventsIn(await ask<IncidentsAnswer>(sonde, '/api/v1/incidents?kind=event&limit=1000'))
      const closed = events.filter((event) => event.rule === 'burst' && event.end !== undefined)
      const behind = closed.filter(({ startMs }) => startMs > (lost.endMs ?? 0))
      // The first may have begun before there were samples.
      return behind.length >= 5 && closed.toReversed().slice(1)
    })
    for (const [at, burst] of bursts.entries()) {
      assert.deepEqual([burst.end, burst.leftOut, isOf(burst, 'mlx5_1')], ['cleared', 0, true])
      assertLasted(burst)
      // The next burst is 400 ms behind this one: none was missed, and none is late.
      const before = bursts[at - 1] ?? { startMs: burst.startMs - 400, errorMs: 0 }
      const apartMs = burst.startMs - before.startMs
      const errorMs = burst.errorMs + before.errorMs
      assert.ok(Math.abs(apartMs - 400) < 5 + errorMs, `${apartMs} ms between bursts, within ${errorMs} ms`)
    }
    await assertStops(sonde)
  })

/** Stalled for more than 30 of 200 µs, as where a PCIe link trained down. */
const STALL = '0x1160000500000000'
const STALLED = { name: 'PCIe writes stall', data_id: STALL, comparison_type: 'dt_gt', comparison_value: 30_000 }

test('a rule that fires where a simulated PCIe link trains down fires through the libraries too', NEEDS, async (t) => {
  const double = new DocaDouble(t)
  double.play({ mlx5_0: BURSTS })
  const folder = mkdtempSync(join(tmpdir(), 'sonde-traceback-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [config, rules] = [join(folder, 'sonde.yaml'), join(folder, 'rules.json')]
  const book = { diag_sample_period_ns: 100_000, sample_history_depth: 2, rules: [STALLED] }
  writeFileSync(rules, JSON.stringify({ ...book, 'data-ids': [{ name: 'pcie_write_stall', data_id: STALL }] }))
  const sources = [
    { type: 'doca_telemetry_diag', accept_taint: true, high_frequency: true, counters: [STALL] },
    { type: 'simulator_diag', scenarios: ['pcie-downtrain'], counters: [STALL], devices: ['mlx5_2', 'mlx5_3'] },
  ]
  const traceback = { rules, dir: join(folder, 'events'), before_ms: 50, after_ms: 10 }
  const native = { doca_library: double.folder }
  writeFileSync(config, JSON.stringify({ native, data_sources: sources, traceback }))
  const sonde = await startSonde(['agent', '--config', config])
  t.after(() => sonde.stop('SIGKILL'))
  const simulated = await eventIn(sonde, 'the simulated link', ({ source }) => source === 'simulator_diag')
  const real = await eventIn(sonde, 'the library', ({ source }) => source === 'doca_telemetry_diag')
  assert.deepEqual([simulated.rule, real.rule], [STALLED.name, STALLED.name])
  assert.ok(
    simulated.device.includes('mlx5_3') && real.device.includes('mlx5_0'),
    `${simulated.device}, ${real.device}`,
  )
  await assertStops(sonde)
})

test('a device that is removed opens an event of a rule that waits for absence', NEEDS, async (t) => {
  const rule = { name: 'silent', data_id: RX, comparison_type: 'absent', absent_ms: 1500 }
  const { double, sonde } = await start(t, {}, rule)
  await until(
    'samples',
    LIMIT_MS,
    async () => eventsIn(await ask<IncidentsAnswer>(sonde, '/api/v1/incidents?kind=event')).rules[0]?.devices.length,
  )
  double.play({ mlx5_1: {} })
  const silent = await eventIn(sonde, 'absence', ({ rule: name }) => name === 'silent')
  double.play({ mlx5_0: {}, mlx5_1: {} })
  const back = await eventIn(sonde, 'its end', ({ id, end }) => id === silent.id && end !== undefined)
  assert.equal(back.end, 'cleared')
  await assertStops(sonde)
})

test('steps of the clock of a device, forth and back, move no event and lose none', NEEDS, async (t) => {
  const { double, sonde } = await start(t, BURSTS, BURST)
  await eventIn(sonde, 'a burst', ({ end }) => end === 'cleared')
  for (const stepNs of [3_600_000_000_000, -3_600_000_000_000, 0]) {
    const steppedMs = Date.now()
    double.play({ mlx5_0: { facts: { ...BURSTS.facts, offset_ns: stepNs } }, mlx5_1: {} })
    // The first event may lie on both sides of the step.
    const isBehind = ({ startMs, end }: TracebackEvent) => end === 'cleared' && startMs > steppedMs + 1000
    const event = await eventIn(sonde, `a burst behind a step of ${stepNs} ns`, isBehind)
    assert.ok(event.startMs < Date.now(), `it begins ${event.startMs - Date.now()} ms from now`)
    assertLasted(event, `behind a step of ${stepNs} ns`)
    assert.ok(event.samples >= 1400, `${event.samples} samples behind a step of ${stepNs} ns`)
  }
  await assertStops(sonde)
})
