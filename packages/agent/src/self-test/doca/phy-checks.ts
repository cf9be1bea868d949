import { DocaFailure } from '../../native/doca/failure.ts'
import { type LinkCounters, type ModuleState, PhyPort } from '../../native/doca/phy.ts'
import { COUNTER_INFO, MODULE_INFO, OPERATION_INFO } from '../../native/doca/phy-layout.ts'
import { type CheckVerdict, failed, notPossible, passed } from '../check.ts'
import { type Bench, judged, openPart, verdictOf } from './bench.ts'
import { checkLayout, endOf } from './layout.ts'
import { type Counters, checkReadings } from './readings.ts'

const READINGS = ['operation_info', 'counter_and_ber_info', 'module_info'] as const
/** A module may take so long to answer. Sonde reads it every 10 s. Unit: milliseconds. */
const MODULE_MS = 1000
const COST_MS = 50
const [CELSIUS_MIN, CELSIUS_MAX] = [-40, 125]

/** Bytes up to the end of the last field that Sonde reads, and size of the structure in the headers it knows. */
const LAYOUTS = {
  operation_info: { readBytes: endOf(OPERATION_INFO), knownBytes: 32 },
  counter_and_ber_info: { readBytes: endOf(COUNTER_INFO), knownBytes: 152 },
  module_info: { readBytes: endOf(MODULE_INFO), knownBytes: 452 },
} as const

/** Checks the port of a device. */
export async function checkPhy(bench: Bench): Promise<void> {
  const opened = await openPart(bench, 'phy', PhyPort.open)
  if (opened === undefined) return
  await bench.check('phy.link', () => checkLink(bench, opened))
  await bench.check('phy.ratios', () => judged(bench, opened.counters(), ratiosOf))
  await bench.check('phy.recoveries', () => judged(bench, opened.counters(), (found) => recoveriesOf(bench, found)))
  await bench.check('phy.module', async () => {
    const startMs = performance.now()
    return judged(bench, opened.module(), (module) => moduleOf(module, performance.now() - startMs))
  })
  const checks = { monotony: 'phy.monotony', traffic: 'phy.traffic', cost: 'phy.cost', costMs: COST_MS } as const
  await checkReadings(bench, checks, async () => {
    const counters = await opened.counters()
    return counters instanceof DocaFailure ? counters : namedCounters(counters)
  })
  await opened.close()
  await checkLayout(bench, {
    check: 'phy.layout',
    create: 'doca_telemetry_phy_create',
    structures: READINGS.map((reading) => ({
      ...LAYOUTS[reading],
      name: reading,
      call: `doca_telemetry_phy_get_${reading}` as const,
    })),
  })
}

async function checkLink({ device, facts }: Bench, port: PhyPort): Promise<CheckVerdict> {
  const link = await port.link()
  if (link instanceof DocaFailure) return verdictOf(link, device.name)
  const { isUp, rate } = facts
  if (isUp === undefined) return notPossible('the RDMA driver does not report the state of the port')
  const words = (up: boolean, bytesPerSecond?: number) =>
    up ? `up${bytesPerSecond === undefined ? '' : `, ${(bytesPerSecond * 8) / 1e9} Gbit/s`}` : 'down'
  const expected = words(isUp, isUp ? rate?.rate_bytes_per_second : undefined)
  const hasRate = rate !== undefined && isUp
  const found = words(link.isUp, hasRate ? link.bytesPerSecond : undefined)
  const lanes = link.lanes === undefined ? '' : `, ${link.lanes} lanes, ${link.fec || 'unknown error correction'}`
  return found === expected ? passed(`${found}${lanes}`) : failed(expected, `${found}${lanes}`)
}

function ratiosOf({ rawRatio, effectiveRatio, symbolRatio, effectiveErrors, lanes }: LinkCounters): CheckVerdict {
  const ratios = { raw: rawRatio, effective: effectiveRatio, symbol: symbolRatio }
  const all = [...Object.values(ratios), ...lanes.map(({ ratio }) => ratio)]
  const words = Object.entries(ratios).map(([name, ratio]) => `${name} ${ratio ?? 'none'}`)
  const found = `${words.join(', ')}, with ${effectiveErrors} effective errors`
  const isRatio = all.every((ratio) => ratio === undefined || (ratio >= 0 && ratio <= 1))
  return isRatio ? passed(found) : failed('ratios between 0 and 1', found)
}

async function recoveriesOf({ facts }: Bench, { recoveries }: LinkCounters): Promise<CheckVerdict> {
  const counted = await facts.counter('link_error_recovery')
  if (counted === undefined) return notPossible('the RDMA driver has no link_error_recovery')
  if (counted === 0n && recoveries === 0) return notPossible('the link has not recovered from an error yet')
  return BigInt(recoveries) === counted
    ? passed(`${recoveries}`)
    : failed(`${counted} as the driver counts`, `${recoveries}`)
}

function moduleOf({ vendor, partNumber, celsius, lanes }: ModuleState, tookMs: number): CheckVerdict {
  const sensor = celsius === undefined ? 'no temperature' : `${celsius} °C`
  const part = [vendor, partNumber].join(' ').trim() || 'without a name'
  const found = `${part}, ${lanes.length} lanes, ${sensor}, in ${tookMs.toFixed(1)} ms`
  const isPlausible = celsius === undefined || (celsius > CELSIUS_MIN && celsius < CELSIUS_MAX)
  // A wrong layout shows as text that nobody has written.
  const isText = /^[\x20-\x7e]*$/.test(part)
  if (isPlausible && isText && tookMs < MODULE_MS) return passed(found)
  return failed(`names in ASCII, ${CELSIUS_MIN} to ${CELSIUS_MAX} °C, within ${MODULE_MS} ms`, found)
}

function namedCounters({ linkDowns, recoveries, symbolErrors, effectiveErrors, lanes }: LinkCounters): Counters {
  const named: [string, number | bigint][] = [
    ['link_downs', linkDowns],
    ['recoveries', recoveries],
    ['effective_errors', effectiveErrors],
    ...lanes.map(({ errors }, lane): [string, bigint] => [`raw_errors of lane ${lane}`, errors]),
  ]
  if (symbolErrors !== undefined) named.push(['symbol_errors', symbolErrors])
  return new Map(named)
}
