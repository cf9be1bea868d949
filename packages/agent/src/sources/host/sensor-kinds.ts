import type { RecordType } from '@sonde/sdk'
import { parseMicrowatts, parseMillidegrees, parseRpm } from './parse-sysfs.ts'
import type { FieldFile } from './slow-part.ts'
import { hostFanType, hostPowerType, hostTemperatureType } from './type.ts'

/** A kind of sensor. */
export interface SensorKind {
  readonly type: RecordType
  readonly field: string
  readonly parse: FieldFile['parse']
  /** Ends of the names of files that hold limits, by field. */
  readonly limits: Readonly<Record<string, string>>
}

/** Kinds of sensors by the prefix of their files. */
export const SENSOR_KINDS: Readonly<Record<string, SensorKind>> = {
  temp: {
    type: hostTemperatureType,
    field: 'celsius',
    parse: parseMillidegrees,
    limits: { limit_celsius: 'max', critical_celsius: 'crit' },
  },
  fan: { type: hostFanType, field: 'rpm', parse: parseRpm, limits: { minimum_rpm: 'min', maximum_rpm: 'max' } },
  power: {
    type: hostPowerType,
    field: 'watts',
    parse: parseMicrowatts,
    limits: { cap_watts: 'cap', limit_watts: 'max', critical_watts: 'crit' },
  },
}

/** Matches the name of a file that holds a measurement. */
export const INPUT = /^((temp|fan|power)\d{1,3})_(input|average)$/
