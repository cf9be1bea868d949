import type { DocaDevice } from '../../native/doca/device.ts'
import type { DocaFailure } from '../../native/doca/failure.ts'
import { failed, notPossible, type Verdict } from '../check.ts'
import type { DocaCheck } from './checks.ts'
import type { DeviceFacts } from './device-facts.ts'

/** One device under test. */
export interface Bench {
  readonly device: DocaDevice
  readonly facts: DeviceFacts
  /** Time between two readings of a device. Unit: milliseconds. */
  readonly pauseMs: number
  /** Makes one check, and reports its verdict. */
  check(check: DocaCheck, make: () => Verdict | Promise<Verdict>): Promise<void>
}

/** The verdict on a call that failed: a device may be without support, but a device that supports a call must answer. */
export function verdictOf({ kind, name, error }: DocaFailure, device: string): Verdict {
  const said = error.message.replace(`${device}: `, '')
  return kind === 'unsupported' || kind === 'denied' ? notPossible(said) : failed(`no ${name}`, said)
}
