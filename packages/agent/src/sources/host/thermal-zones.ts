import { ReadFailure } from '../kernel-file.ts'
import { parseMillidegrees } from './parse-sysfs.ts'
import type { HostReader } from './reader.ts'
import { type FieldFile, FileSeries, type FoundSeries, slowPart } from './slow-part.ts'
import { hostThermalZoneType } from './type.ts'

const FOLDER = ['class', 'thermal'] as const
const ZONE = /^thermal_zone(\d{1,4})$/
const TRIP = /^(trip_point_\d{1,2})_type$/
const ZONE_LIMIT = 64
const READS_PER_SWEEP = 4

/**
 * Fields of the trip points of a zone, by their kind. Trip points of kind `active` turn on fans; there are many, so
 * they are left out.
 */
const TRIPS: Readonly<Record<string, string>> = {
  passive: 'passive_celsius',
  hot: 'hot_celsius',
  critical: 'critical_celsius',
}

/** Thermal zones. The kernel itself acts on their temperature. */
export const thermalZones = slowPart({
  types: [[hostThermalZoneType, 'the kernel has no thermal zone; virtual machines have none']],
  limit: ['zone_limit', ZONE_LIMIT],
  readsPerSweep: READS_PER_SWEEP,
  folder: FOLDER,
  finder: (reader) => (names) =>
    names.sort().flatMap((name) => {
      const zone = ZONE.exec(name)?.[1]
      return zone === undefined ? [] : [zoneOf(reader, zone)]
    }),
})

function zoneOf(reader: HostReader, zone: string): FoundSeries {
  const { sysfs } = reader
  const folder = [...FOLDER, `thermal_zone${zone}`]
  const file = (name: string) => sysfs.file(...folder, name)
  const names = sysfs.list(...folder)
  const trips = new Map<string, FieldFile>()
  for (const name of names instanceof ReadFailure ? [] : names.sort()) {
    const stem = TRIP.exec(name)?.[1]
    const field = stem === undefined ? undefined : TRIPS[reader.text(file(name)) ?? '']
    if (stem !== undefined && field !== undefined && !trips.has(field))
      trips.set(field, { field, file: file(`${stem}_temp`), parse: parseMillidegrees })
  }
  const found = { type: hostThermalZoneType, labels: { zone, kind: reader.text(file('type')) ?? 'unknown' } }
  const files = [{ field: 'celsius', file: file('temp'), parse: parseMillidegrees }, ...trips.values()]
  const place = files.map((one) => one.file.path).join(' ')
  return { ...found, place, open: () => new FileSeries(reader, found, files) }
}
