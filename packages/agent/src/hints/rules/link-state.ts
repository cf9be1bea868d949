import type { Look } from '../look/look.ts'
import { NIC } from '../watch/signals.ts'

/** Whether a source says that the link of a port is down. */
export function isDown(look: Look): boolean {
  return look.last(NIC.state) === 1 || look.last(NIC.carrier) === 0 || look.last(NIC.linkDetected) === 0
}

/** Whether a source says that it is up. */
export function isUp(look: Look): boolean {
  return look.last(NIC.state) === 4 || look.last(NIC.carrier) === 1 || look.last(NIC.linkDetected) === 1
}

/** Time since the link went down. Unit: milliseconds; ∞ where it did not while it was watched. */
export function sinceDown(look: Look): number {
  return Math.min(
    look.sinceRise(NIC.linkDownEvents),
    look.sinceRise(NIC.linkDowned),
    look.sinceRise(NIC.carrierChanges),
  )
}
