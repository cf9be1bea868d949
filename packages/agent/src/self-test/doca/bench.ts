import type { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { type DocaSymbol, TELEMETRY } from '../../native/doca/symbols.ts'
import { type CheckVerdict, failed, listOf, notPossible, passed } from '../check.ts'
import type { DocaCheck } from './checks.ts'
import type { TestedDevice } from './device-facts.ts'

/** One device under test. */
export interface Bench {
  readonly device: DocaDevice
  readonly facts: TestedDevice
  /** Time between two readings of a device. Unit: milliseconds. */
  readonly pauseMs: number
  /** Makes one check, and reports its verdict. */
  check(check: DocaCheck, make: () => CheckVerdict | Promise<CheckVerdict>): Promise<void>
}

/** Parts of the libraries, as in the names of their functions. */
export const DOCA_PARTS = ['phy', 'pci', 'pcc', 'dpa', 'adp_retx', 'diag'] as const

/** One of {@link DOCA_PARTS}. */
export type DocaPart = (typeof DOCA_PARTS)[number]

/** The verdict on a call that failed: a device may lack support, but a device that supports a call must answer. */
export function verdictOf({ kind, name, error }: DocaFailure, device: string): CheckVerdict {
  const said = error.message.replace(`${device}: `, '')
  return kind === 'unsupported' || kind === 'denied' ? notPossible(said) : failed(`no ${name}`, said)
}

/** Judges what a call found; a call that failed has its own verdict. */
export async function judged<T>(
  { device }: Bench,
  found: Promise<T | DocaFailure>,
  judge: (found: T) => CheckVerdict | Promise<CheckVerdict>,
): Promise<CheckVerdict> {
  const settled = await found
  return settled instanceof DocaFailure ? verdictOf(settled, device.name) : judge(settled)
}

/**
 * Checks which capabilities of a part the device reports, and opens the part.
 *
 * @returns The opened part; undefined if it cannot be opened.
 */
export async function openPart<T>(
  bench: Bench,
  part: DocaPart,
  open: (device: DocaDevice) => Promise<T | DocaFailure>,
): Promise<T | undefined> {
  let opened: T | undefined
  await bench.check(`${part}.capabilities`, () =>
    judged(bench, open(bench.device), async (found) => {
      opened = found
      return passed(await capabilitiesOf(bench, part))
    }),
  )
  return opened
}

/** Asks for each capability of a part, and names those with and without support. */
export async function capabilitiesOf({ device }: Bench, part: DocaPart): Promise<string> {
  const prefix = `doca_telemetry_${part}_cap_`
  const calls = Object.keys(TELEMETRY).filter((name) => name.startsWith(prefix) && name.endsWith('is_supported'))
  const supported: string[] = []
  const refused: string[] = []
  for (const call of calls) {
    const failure = await device.call(call as DocaSymbol, device.info)
    const name = call.slice(prefix.length).replace(/_?is_supported$/, '') || part
    if (failure === undefined) supported.push(name)
    else refused.push(`${name} (${failure.name})`)
  }
  return `supported: ${listOf(supported)}; not supported: ${listOf(refused)}`
}
