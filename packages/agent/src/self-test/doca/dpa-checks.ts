import { countOf } from '@sonde/sdk/internal'
import { Dpa, type DpaProcess, type DpaThread, type DpaUse } from '../../native/doca/dpa.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { StartNotes } from '../../sources/doca-telemetry-dpa/start-notes.ts'
import { type CheckVerdict, failed, notPossible, passed } from '../check.ts'
import { type Bench, capabilitiesOf, judged, verdictOf } from './bench.ts'
import { type Counters, checkReadings } from './readings.ts'

const COST_MS = 50
/** A list of more is slow to read. Unit: bytes. */
const LIST_BYTES = 4 << 20

/** Checks the data-path accelerator of a device. No counter is started, restarted or stopped. */
export async function checkDpa(bench: Bench): Promise<void> {
  let opened: Dpa | undefined
  await bench.check('dpa.capabilities', async () => passed(await capabilitiesOf(bench, 'dpa')))
  await bench.check('dpa.start', async () => {
    const found = await Dpa.open(bench.device)
    if (found instanceof DocaFailure)
      return found.name === 'DRIVER' ? passed('DRIVER') : verdictOf(found, bench.device.name)
    opened = found
    return judged(bench, found.processes(), ({ length }) =>
      length === 0 ? failed('DRIVER without a process', 'it starts') : notPossible('a process runs'),
    )
  })
  if (opened === undefined) return
  const dpa = opened
  await bench.check('dpa.lists', () => judged(bench, dpa.listBytes(), (bytes) => listsOf(bytes)))
  await bench.check('dpa.layout', () => checkLists(bench, dpa))
  await bench.check('dpa.ownership', () => checkOwnership(bench, dpa))
  const checks = { monotony: 'dpa.monotony', traffic: 'dpa.traffic', cost: 'dpa.cost', costMs: COST_MS } as const
  await checkReadings(bench, checks, async () => {
    const use = await dpa.use()
    return use instanceof DocaFailure ? use : namedCounters(use)
  })
  await dpa.close()
}

function listsOf({ processes, threads, use }: Readonly<Record<'processes' | 'threads' | 'use', number>>): CheckVerdict {
  const found = `processes ${processes}, threads ${threads}, use ${use} bytes`
  return Math.max(processes, threads, use) <= LIST_BYTES
    ? passed(found)
    : failed(`lists up to ${LIST_BYTES} bytes`, found)
}

/** Lists with another layout have processes and threads that other lists do not have. */
async function checkLists(bench: Bench, dpa: Dpa): Promise<CheckVerdict> {
  const lists = [await dpa.processes(), await dpa.threads(), await dpa.use()]
  const refused = lists.find((list) => list instanceof DocaFailure)
  if (refused instanceof DocaFailure) return verdictOf(refused, bench.device.name)
  const [processes, threads, use] = lists as [DpaProcess[], DpaThread[], DpaUse[]]
  if (threads.length === 0) return notPossible('no thread runs')
  const known = new Map(processes.map(({ id, threads: count }) => [id, count]))
  const isNamed = [...processes, ...threads].every(({ name }) => /^[\x20-\x7e]*$/.test(name))
  const counted = Map.groupBy(threads, ({ process }) => process)
  const isConsistent =
    threads.every(({ process }) => known.has(process)) &&
    processes.every(({ id, threads: count }) => (counted.get(id)?.length ?? 0) === count) &&
    use.every(({ process, thread }) => threads.some((one) => one.process === process && one.id === thread))
  const found = `${countOf(processes.length, 'process', 'processes')}, ${countOf(threads.length, 'thread')}, ${use.length} with a running counter`
  return isConsistent && isNamed
    ? passed(found)
    : failed('lists of the same processes and threads, names in ASCII', found)
}

/** A counter that this Sonde, or another, has not started was started by another program. */
async function checkOwnership({ device }: Bench, dpa: Dpa): Promise<CheckVerdict> {
  const processes = await dpa.processes()
  if (processes instanceof DocaFailure) return verdictOf(processes, device.name)
  const of = { address: await device.pciAddress(), device: device.name, library: device.library.paths.telemetry }
  const notes = StartNotes.of(of)
  const owners = { sonde: 0, other: 0, none: 0 }
  for (const { id } of processes) {
    const isCounting = await dpa.isCounting(id)
    if (isCounting instanceof DocaFailure) return verdictOf(isCounting, device.name)
    owners[isCounting ? (notes.ownerOf(id) === undefined ? 'other' : 'sonde') : 'none']++
  }
  const found = `counters of ${countOf(processes.length, 'process', 'processes')}: ${owners.other} started by other programs, ${owners.sonde} by Sonde, ${owners.none} not started`
  return owners.other > 0 ? passed(found) : notPossible(`no other program has started a counter; ${found}`)
}

function namedCounters(use: readonly DpaUse[]): Counters {
  return new Map(
    use.flatMap(({ process, thread, cycles, instructions, executions }) =>
      Object.entries({ cycles, instructions, executions }).map(
        ([name, value]) => [`${name} of thread ${thread} of process ${process}`, value] as const,
      ),
    ),
  )
}
