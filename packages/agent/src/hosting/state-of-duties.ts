import { messageOf } from '@sonde/sdk/internal'
import type { DutyRun } from './duty-run.ts'
import type { Settled } from './source-status.ts'

/**
 * The state of a source from its duties: `reading` if any device can be read; `starved` if only a shortage of
 * processors delays the others. Undefined if no call has returned or is late.
 */
export function stateOfDuties(runs: readonly DutyRun[]): Pick<Settled, 'state' | 'reason'> | undefined {
  const ofDevices = runs.filter(({ duty }) => duty.device !== '')
  // If the call for the list of devices hangs, known devices are still read.
  const isReading = ofDevices.some((run) => run.isDone && isWell(run))
  const whole = runs.find((run) => run.duty.device === '' && isIll(run) && !(run.isStuck && isReading))
  if (whole !== undefined) return stateOfIll([whole])
  const known = (ofDevices.length > 0 ? ofDevices : runs).filter((run) => run.isDone || !isWell(run))
  if (known.some(isWell)) return { state: 'reading', reason: '' }
  const starved = runs.find(({ shortage }) => shortage !== '')
  if (starved !== undefined) return { state: 'starved', reason: starved.shortage }
  return known.length === 0 ? undefined : stateOfIll(known)
}

function isWell(run: DutyRun): boolean {
  return run.shortage === '' && !isIll(run)
}

function isIll({ failure, isStuck }: DutyRun): boolean {
  return failure !== undefined || isStuck
}

function stateOfIll(ill: readonly DutyRun[]): Pick<Settled, 'state' | 'reason'> {
  if (ill.every(({ isStuck }) => isStuck)) return { state: 'stuck', reason: reasonOf(ill) }
  return { state: 'failed', reason: messageOf(ill.find(({ failure }) => failure !== undefined)?.failure) }
}

function reasonOf(stuck: readonly DutyRun[]): string {
  const devices = stuck.map(({ duty }) => duty.device).filter(Boolean)
  const [first] = stuck
  if (devices.length === 0 || first === undefined) return first?.reason ?? ''
  return `calls of ${devices.join(', ')} have not come back for ${first.limitMs} ms`
}
