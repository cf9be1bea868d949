import { setTimeout as pause } from 'node:timers/promises'
import { type DiagLimits, DiagSampler, diagLimits } from '../../native/doca/diag.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { idsText } from '../../native/doca/ids.ts'
import { SAMPLE_1, sampleBytesOf } from '../../native/doca/layout.ts'
import { idsOf, nameOf, placedCounter } from '../../sources/doca-telemetry-diag/counters.ts'
import { type CheckVerdict, failed, notPossible, passed } from '../check.ts'
import { type Bench, judged, openPart, verdictOf } from './bench.ts'
import type { DiagCheck } from './checks.ts'
import { type Counters, checkReadings } from './readings.ts'

const PERIOD_NS = 100_000
const LOG_SAMPLES = 10
const QUERY_SAMPLES = 1024
const DRAIN_MS = 10
const ON_DEMAND_MS = 10
const NS_PER_S = 1_000_000_000n
/** The device may lengthen a period, but not to twice as long. */
const LENGTHENED_MAX = 2
/** Bit of the kernel taint that debugging through fwctl sets. */
const FWCTL_TAINT = 1n << 19n
/** Fewer bytes show no direction. */
const TRAFFIC_BYTES_MIN = 1_000_000n
const INBOUND = 0x1160_0001n << 32n
const OUTBOUND = 0x1160_0002n << 32n
const RECEIVED = 0x1020_0001n << 32n
const SENT = 0x1140_0001n << 32n

/**
 * Checks the diagnostic counters of a device. Only the capabilities can be read without a taint of the kernel.
 *
 * @param acceptsTaint Whether the counters may be sampled.
 */
export async function checkDiag(bench: Bench, acceptsTaint: boolean): Promise<void> {
  const limits = await openPart(bench, 'diag', diagLimits)
  if (limits === undefined || !acceptsTaint) return
  const { device } = bench
  const taintBefore = await bench.facts.taintBits()
  const ids = idsOf([], 1).slice(0, limits.maxIds)
  let sampler: DiagSampler | undefined
  await bench.check('diag.ids', async () => {
    const config = { ids, periodNs: PERIOD_NS, logSamples: Math.min(LOG_SAMPLES, limits.logMaxSamples) }
    const opened = await DiagSampler.open(device, { ...config, ...ownSamples(limits), querySamples: QUERY_SAMPLES })
    if (opened instanceof DocaFailure) return verdictOf(opened, device.name)
    sampler = opened
    return passed(`${opened.ids.length} sampled; refused: ${idsText([...opened.refused.keys()]) || 'none'}`)
  })
  if (sampler === undefined) return
  const opened = sampler
  const { taint, layout, period } = { taint: 'diag.taint', layout: 'diag.layout', period: 'diag.period' } as const
  await bench.check(taint, async () => taintOf(taintBefore, await bench.facts.taintBits()))
  await bench.check(layout, () => layoutOf(opened))
  await bench.check(period, () => periodOf(opened))
  await bench.check('diag.ownership', () => checkOwnership(bench))
  await pause(bench.pauseMs)
  await bench.check('diag.clock', () => judged(bench, queried(opened), () => clockOf(opened, limits)))
  await bench.check('diag.directions', () => checkDirections(bench, opened))
  const checks = { monotony: 'diag.monotony', traffic: 'diag.traffic', cost: 'diag.cost' } as const satisfies Record<
    string,
    DiagCheck
  >
  await checkReadings(
    bench,
    { ...checks, costMs: DRAIN_MS },
    async () => (await queried(opened)) ?? latestCounters(opened),
  )
  await opened.close()
  await bench.check('diag.on_demand', () => checkOnDemand(bench, limits, opened.ids))
}

const ownSamples = ({ hasRealTime }: DiagLimits) => ({ hasRealTime, force: false })

/** Reads new samples. */
async function queried(sampler: DiagSampler): Promise<DocaFailure | undefined> {
  return sampler.query()
}

function taintOf(before: bigint | undefined, after: bigint | undefined): CheckVerdict {
  if (before === undefined || after === undefined) return notPossible('the kernel does not report its taint')
  if ((before & FWCTL_TAINT) !== 0n) return notPossible('debugging through fwctl had tainted the kernel before')
  const found = `the taint is ${after}, and was ${before}`
  return (after & FWCTL_TAINT) !== 0n ? passed(found) : failed('bit 19 of the taint is set', found)
}

function layoutOf({ ids, sampleBytes }: DiagSampler): CheckVerdict {
  const expected = `${sampleBytesOf(ids.length)} bytes for ${ids.length} counters`
  return sampleBytes === sampleBytesOf(ids.length) ? passed(expected) : failed(expected, `${sampleBytes} bytes`)
}

function periodOf({ periodNs }: DiagSampler): CheckVerdict {
  const found = `${periodNs} ns`
  const isNear = periodNs >= PERIOD_NS && periodNs < PERIOD_NS * LENGTHENED_MAX
  return isNear ? passed(found) : failed(`${PERIOD_NS} ns, or a little longer`, found)
}

/** The counters are those of the card, so a second context must be refused. */
async function checkOwnership({ device }: Bench): Promise<CheckVerdict> {
  const second = await device.create('doca_telemetry_diag_create', 0)
  if (second instanceof DocaFailure) return second.name === 'IN_USE' ? passed('IN_USE') : failed('IN_USE', second.name)
  await device.destroy(second)
  return failed('IN_USE', 'a second context is created')
}

function ticksAt({ samples, sampleBytes }: DiagSampler, sample: number, hasRealTime: boolean): bigint {
  const at = sample * sampleBytes
  const high = BigInt(samples.getUint32(at + SAMPLE_1.earliestHigh, true))
  const low = BigInt(samples.getUint32(at + SAMPLE_1.earliestLow, true))
  return hasRealTime ? high * NS_PER_S + low : (high << 32n) | low
}

function clockOf(sampler: DiagSampler, { hasRealTime }: DiagLimits): CheckVerdict {
  const { count, periodNs } = sampler
  if (count < 2) return notPossible(`there are ${count} samples`)
  const ticks = Array.from({ length: count }, (_, sample) => ticksAt(sampler, sample, hasRealTime))
  const isRising = ticks.every((tick, at) => at === 0 || tick > (ticks[at - 1] ?? 0n))
  const [first = 0n, last = 0n] = [ticks[0], ticks.at(-1)]
  const stepNs = Number(last - first) / (count - 1)
  if (!hasRealTime) {
    const found = `free-running, ${Math.round((stepNs / periodNs) * 1e9)} ticks a second`
    return isRising ? passed(found) : failed('times that rise', found)
  }
  const offsetMs = Number(last / 1_000_000n) - Date.now()
  const found = `${count} samples ${Math.round(stepNs)} ns apart, ${offsetMs} ms before the clock of the host`
  const isSpaced = stepNs > periodNs / LENGTHENED_MAX && stepNs < periodNs * LENGTHENED_MAX
  return isRising && isSpaced ? passed(found) : failed(`times that rise by ${periodNs} ns`, found)
}

async function checkDirections(bench: Bench, sampler: DiagSampler): Promise<CheckVerdict> {
  const wanted = [INBOUND, OUTBOUND, RECEIVED, SENT].map((id) => sampler.ids.indexOf(id))
  if (wanted.includes(-1)) return notPossible('the device does not count the bytes of the PCIe link and of the port')
  const take = async () => (await queried(sampler)) ?? wanted.map((at) => valueAt(sampler, at))
  const before = await take()
  if (before instanceof DocaFailure) return verdictOf(before, bench.device.name)
  await pause(bench.pauseMs * 5)
  return judged(bench, take(), (after) => {
    const [inbound = 0n, outbound = 0n, received = 0n, sent = 0n] = after.map((value, at) => value - (before[at] ?? 0n))
    const found = `inbound ${inbound}, outbound ${outbound}, received ${received}, sent ${sent} bytes`
    const [more, less] = received > sent ? [received, sent] : [sent, received]
    if (more < TRAFFIC_BYTES_MIN)
      return notPossible('too little was sent or received: run ib_write_bw in one direction')
    if (less * 2n > more) return notPossible(`as much was sent as received: run ib_write_bw in one direction; ${found}`)
    const follows = received > sent === inbound > outbound ? 'received' : 'sent'
    return passed(`inbound is the direction of ${follows} bytes; ${found}`)
  })
}

/** A value of the newest sample. */
function valueAt({ samples, sampleBytes, count }: DiagSampler, at: number): bigint {
  if (count === 0) return 0n
  return samples.getBigUint64((count - 1) * sampleBytes + SAMPLE_1.values + at * SAMPLE_1.valueBytes, true)
}

/** Counters of the newest sample; gauges are left out. */
function latestCounters(sampler: DiagSampler): Counters {
  if (sampler.count === 0) return new Map()
  const named = sampler.ids.flatMap((id, at) => {
    const { counter, labels } = placedCounter(id)
    if (counter?.extreme !== undefined) return []
    const priority = labels.priority === undefined ? '' : ` of priority ${labels.priority}`
    return [[`${nameOf(id)}${priority}`, valueAt(sampler, at)] as const]
  })
  return new Map(named)
}

async function checkOnDemand(bench: Bench, limits: DiagLimits, ids: readonly bigint[]): Promise<CheckVerdict> {
  if (!limits.onDemand) return notPossible('the device takes no sample on demand')
  const config = { ids, periodNs: 0, logSamples: 0, ...ownSamples(limits), querySamples: 1 }
  const sampler = await DiagSampler.open(bench.device, config)
  if (sampler instanceof DocaFailure) return verdictOf(sampler, bench.device.name)
  const startMs = performance.now()
  const verdict = await judged(bench, queried(sampler), () => {
    const tookMs = performance.now() - startMs
    const found = `a sample in ${tookMs.toFixed(2)} ms`
    return tookMs <= ON_DEMAND_MS && sampler.count === 1
      ? passed(found)
      : failed(`a sample within ${ON_DEMAND_MS} ms`, found)
  })
  await sampler.close()
  return verdict
}
