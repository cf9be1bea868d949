import type { Inspection } from '../inspection/inspection.ts'
import { NIC } from '../watch/signals.ts'

/** Whether a source reports the link of a port as down. */
export function isDown(inspection: Inspection): boolean {
  return (
    inspection.last(NIC.state) === 1 || inspection.last(NIC.carrier) === 0 || inspection.last(NIC.linkDetected) === 0
  )
}

/** Whether a source reports it as up. */
export function isUp(inspection: Inspection): boolean {
  return (
    inspection.last(NIC.state) === 4 || inspection.last(NIC.carrier) === 1 || inspection.last(NIC.linkDetected) === 1
  )
}

/** Time since the link went down. Unit: milliseconds; ∞ if it did not go down while it was watched. */
export function sinceDown(inspection: Inspection): number {
  return Math.min(
    inspection.sinceRise(NIC.linkDownEvents),
    inspection.sinceRise(NIC.linkDowned),
    inspection.sinceRise(NIC.carrierChanges),
  )
}
