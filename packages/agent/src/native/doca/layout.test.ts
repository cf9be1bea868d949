import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  BIN_WIDTH_MODE,
  ERROR_NAMES,
  OUTPUT_FORMAT,
  SAMPLE_1,
  SAMPLE_MODE,
  SYNC_MODE,
  TEXT_BYTES,
  TIME_UNITS,
  TIMESTAMP_SOURCE,
} from './layout.ts'

// Numbers that a C compiler computed from a second reading of the headers.
const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const { enums, errors, constants } = read('fixtures/numbers.json')
const structures = read('../../../../../test/doubles/doca/fixtures/layout.json')

/** Members of an enumeration, without what all their names begin with. */
function membersOf(name: string, prefix: string): Record<string, number> {
  const found = enums[name] as Record<string, number>
  return Object.fromEntries(Object.entries(found).map(([key, value]) => [key.slice(prefix.length), value]))
}

test('errors have the numbers of the header', () => {
  const named = Object.fromEntries(
    ERROR_NAMES.map((name, number) => [name === 'SUCCESS' ? 'DOCA_SUCCESS' : `DOCA_ERROR_${name}`, number]),
  )
  assert.deepEqual(named, errors)
})

test('enumerations have the numbers of the header', () => {
  const diag = 'DOCA_TELEMETRY_DIAG_'
  assert.deepEqual({ ...SYNC_MODE }, membersOf('doca_telemetry_diag_sync_mode', `${diag}SYNC_MODE_`))
  assert.deepEqual({ ...SAMPLE_MODE }, membersOf('doca_telemetry_diag_sample_mode', `${diag}SAMPLE_MODE_`))
  assert.deepEqual(
    { ...TIMESTAMP_SOURCE },
    membersOf('doca_telemetry_diag_timestamp_source', `${diag}TIMESTAMP_SOURCE_`),
  )
  assert.deepEqual({ ...OUTPUT_FORMAT }, membersOf('doca_telemetry_diag_output_format', `${diag}OUTPUT_`))
  const histogram = 'DOCA_TELEMETRY_ADP_RETX_HIST_'
  assert.deepEqual(
    { ...BIN_WIDTH_MODE },
    membersOf('doca_telemetry_adp_retx_hist_bin_width_mode', `${histogram}BIN_WIDTH_MODE_`),
  )
  assert.deepEqual(
    Object.fromEntries(TIME_UNITS.map(({ name, bit }) => [name, bit])),
    membersOf('doca_telemetry_adp_retx_hist_time_unit', `${histogram}TIME_UNIT_`),
  )
})

test('the sample of format 1, and the texts of a device, lie where the compiler puts them', () => {
  const { fields } = structures.doca_telemetry_diag_data_sample_format_1
  assert.deepEqual(
    [SAMPLE_1.sampleId, SAMPLE_1.earliestHigh, SAMPLE_1.earliestLow, SAMPLE_1.latestLow, SAMPLE_1.values],
    [
      'sample_id',
      'earliest_data_timestamp_h',
      'earliest_data_timestamp_l',
      'latest_data_timestamp_l',
      'data_value',
    ].map((name) => fields[name][0]),
  )
  assert.deepEqual(
    [TEXT_BYTES.pciAddress, TEXT_BYTES.interface, TEXT_BYTES.ibDevice],
    ['PCI_ADDR', 'IFACE_NAME', 'IBDEV_NAME'].map((name) => constants[`DOCA_DEVINFO_${name}_SIZE`]),
  )
})
