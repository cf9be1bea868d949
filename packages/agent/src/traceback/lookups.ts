import type { RecordType } from '@sonde/sdk'
import type { Device } from '../devices/device.ts'
import type { IndexSignal } from './keep/kept-index.ts'

/** What names the device that a series is about. */
export interface DeviceLookup {
  deviceOf(type: Pick<RecordType, 'entity'>, labels: Readonly<Record<string, string>>): Device | undefined
  byId(id: string): Device | undefined
  /** Those that the agent's own sources tell of. */
  own(): readonly Device[]
}

/** What rules say, for the events that they open. */
export interface KnownRules {
  /** What a rule says, in words; empty if it is not known. */
  conditionOf(rule: string): string
  /** The signals that a rule watches, those of the rules that it combines included; empty if it is not known. */
  signalsOf(rule: string): readonly IndexSignal[]
  /** All signals that the file of rules lists. */
  listed(): readonly IndexSignal[]
}
