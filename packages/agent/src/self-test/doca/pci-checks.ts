import { setTimeout as pause } from 'node:timers/promises'
import { DocaFailure } from '../../native/doca/failure.ts'
import { type PciCounters, PciPort } from '../../native/doca/pci.ts'
import { MANAGEMENT_INFO, PERF_COUNTERS } from '../../native/doca/pci-layout.ts'
import { type CheckVerdict, failed, notPossible, passed } from '../check.ts'
import { type Bench, judged, openPart } from './bench.ts'
import { checkLayout, endOf } from './layout.ts'
import { type Counters, checkReadings } from './readings.ts'

/** The place that Sonde reads unless it is configured. */
export const FIRST_LINK = { depth: 0, index: 0, node: 0 } as const
/** The same place as the argument of a call. */
const PLACE_ARGUMENT = 0
const COST_MS = 50
/** Pauses between two looks at the events of stalls: a second or more. */
const STALL_PAUSES = 5

/** Checks the PCIe link of a device. */
export async function checkPci(bench: Bench): Promise<void> {
  const port = await openPart(bench, 'pci', (device) => PciPort.open(device, FIRST_LINK))
  if (port === undefined) return
  await bench.check('pci.place', () => checkPlace(bench, port))
  await bench.check('pci.latency', () =>
    judged(bench, port.latency(), ({ counts, widthNs }) => {
      const reads = counts.reduce((sum, count) => sum + count, 0n)
      return passed(`${counts.length} buckets of ${widthNs} ns, ${reads} reads`)
    }),
  )
  await bench.check('pci.fber', () => judged(bench, port.counters(), fberOf))
  await bench.check('pci.stalls', () => checkStalls(bench, port))
  const checks = { monotony: 'pci.monotony', traffic: 'pci.traffic', cost: 'pci.cost', costMs: COST_MS } as const
  await checkReadings(bench, { ...checks, wraps: true }, async () => {
    const counters = await port.counters()
    return counters instanceof DocaFailure ? counters : namedCounters(counters)
  })
  await port.close()
  await checkLayout(bench, {
    check: 'pci.layout',
    create: 'doca_telemetry_pci_create',
    structures: [
      {
        name: 'management_info',
        call: 'doca_telemetry_pci_read_management_info',
        args: [PLACE_ARGUMENT],
        readBytes: endOf(MANAGEMENT_INFO),
        knownBytes: 60,
      },
      {
        name: 'perf_counters_1',
        call: 'doca_telemetry_pci_read_perf_counters_1',
        args: [PLACE_ARGUMENT],
        readBytes: endOf(PERF_COUNTERS),
        knownBytes: 64,
      },
    ],
  })
}

/** A device without a link at the place answers INVALID_VALUE, whatever it supports. */
async function checkPlace(bench: Bench, port: PciPort): Promise<CheckVerdict> {
  const link = await port.link()
  const words = (generation: number | undefined, lanes: number) =>
    `generation ${generation ?? 'unknown'}, ${lanes} lanes`
  const { pcieGeneration, pcieLanes } = bench.facts
  if (pcieGeneration === undefined || pcieLanes === undefined)
    return notPossible('the kernel does not report speed and width of the PCIe link')
  const expected = words(pcieGeneration, pcieLanes)
  if (link instanceof DocaFailure && link.name === 'INVALID_VALUE')
    return failed(
      `${expected} at 0.0.0`,
      'INVALID_VALUE: no link at 0.0.0; mlxlink --port_type PCIE --show_links prints the place',
    )
  return judged(bench, Promise.resolve(link), ({ generation, lanes }) => {
    const found = words(generation, lanes)
    return found === expected ? passed(found) : failed(expected, found)
  })
}

function fberOf({ fberRatio, effectiveRatio }: PciCounters): CheckVerdict {
  if (fberRatio instanceof DocaFailure) return notPossible('the device does not support FBER')
  if (fberRatio === undefined) return notPossible('the device gives no FBER')
  const found = `FBER ${fberRatio}, effective bit error ratio ${effectiveRatio ?? 'none'}`
  return fberRatio <= 1 ? passed(found) : failed('a ratio up to 1', found)
}

/** An event is a second with too many stalls, as for the driver, or each excess: then there may be more in a second. */
async function checkStalls(bench: Bench, port: PciPort): Promise<CheckVerdict> {
  const stallsOf = ({ stalledReadEvents, stalledWriteEvents, stalledReads, stalledWrites }: PciCounters) => {
    const known = (value: number | DocaFailure | undefined) => (typeof value === 'number' ? value : 0)
    const shares = [stalledReads, stalledWrites].map((share) => `${Math.round(known(share) * 100)} %`)
    return { events: known(stalledReadEvents) + known(stalledWriteEvents), shares: shares.join(' and ') }
  }
  return judged(bench, port.counters(), async (counters) => {
    if (counters.stalledReads instanceof DocaFailure) return notPossible('the device does not count stalls')
    const before = stallsOf(counters)
    const startMs = performance.now()
    await pause(bench.pauseMs * STALL_PAUSES)
    return judged(bench, port.counters(), (later) => {
      const after = stallsOf(later)
      const rise = after.events - before.events
      const seconds = (performance.now() - startMs) / 1000
      if (rise === 0)
        return notPossible(`no event of stalled reads or writes in this time, at shares of ${after.shares}`)
      const found = `${rise} events in ${seconds.toFixed(1)} s, at shares of ${after.shares}`
      // Reads and writes have an event each.
      return rise <= 2 * Math.ceil(seconds + 1)
        ? passed(found)
        : failed('at most one event a second of reads and of writes', found)
    })
  })
}

function namedCounters(counters: PciCounters): Counters {
  const { stalledReads: _, stalledWrites: __, effectiveRatio: ___, fberRatio: ____, ...counts } = counters
  return new Map(
    Object.entries(counts).flatMap(([name, value]) =>
      typeof value === 'number' || typeof value === 'bigint' ? [[name, value] as const] : [],
    ),
  )
}
