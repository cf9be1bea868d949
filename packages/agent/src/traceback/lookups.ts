import type { RecordType } from '@sonde/sdk'
import type { Device } from '../devices/device.ts'
import type { IndexSignal } from './keep/kept-index.ts'

/** Finds the device of a series. */
export interface EventDeviceLookup {
  deviceOf(type: Pick<RecordType, 'entity'>, labels: Readonly<Record<string, string>>): Device | undefined
  byId(id: string): Device | undefined
  /** Devices that the agent's own sources report. */
  own(): readonly Device[]
}

/** Facts about rules, for their events. */
export interface KnownRules {
  /** The condition of a rule in words; empty if unknown. */
  conditionOf(rule: string): string
  /** The signals that a rule watches, including those of the rules that it combines; empty if unknown. */
  signalsOf(rule: string): readonly IndexSignal[]
  /** All signals that the file of rules lists. */
  listed(): readonly IndexSignal[]
}
