import type { Look } from '../look/look.ts'
import { NIC } from '../watch/signals.ts'

/** Whether a source reports the link of a port as down. */
export function isDown(look: Look): boolean {
  return look.last(NIC.state) === 1 || look.last(NIC.carrier) === 0 || look.last(NIC.linkDetected) === 0
}

/** Whether a source reports it as up. */
export function isUp(look: Look): boolean {
  return look.last(NIC.state) === 4 || look.last(NIC.carrier) === 1 || look.last(NIC.linkDetected) === 1
}

/** Time since the link went down. Unit: milliseconds; ∞ if it did not go down while it was watched. */
export function sinceDown(look: Look): number {
  return Math.min(
    look.sinceRise(NIC.linkDownEvents),
    look.sinceRise(NIC.linkDowned),
    look.sinceRise(NIC.carrierChanges),
  )
}
