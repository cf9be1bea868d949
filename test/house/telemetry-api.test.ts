import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as sdk from '@sonde/sdk'
import { root } from '../../scripts/check/sources.ts'

/** The functions of the guide and of the headers after it, without their prefix, as DOCA's headers list them. */
const FUNCTIONS = `
  schema_init schema_set_buf_size schema_get_buf_size schema_set_buf_data_root schema_get_buf_data_root
  schema_set_file_write_enabled schema_set_file_write_max_size schema_get_file_write_max_size
  schema_set_file_write_max_age schema_get_file_write_max_age schema_set_ipc_enabled schema_set_ipc_sockets_dir
  schema_get_ipc_sockets_dir schema_set_ipc_reconnect_time schema_get_ipc_reconnect_time
  schema_set_ipc_reconnect_tries schema_get_ipc_reconnect_tries schema_set_ipc_socket_timeout
  schema_get_ipc_socket_timeout schema_set_opaque_events_enabled schema_set_indexes schema_get_indexes
  schema_add_type schema_start schema_destroy
  type_create type_destroy type_add_field field_create field_destroy field_set_name field_set_description
  field_set_type_name field_set_array_len
  source_create source_set_id source_set_tag source_start source_report source_flush source_opaque_report
  source_get_opaque_report_max_data_size source_destroy get_timestamp check_ipc_status
  metrics_create_context metrics_destroy_context metrics_add_constant_label metrics_add_label_names
  metrics_add_counter metrics_add_counter_increment metrics_add_gauge metrics_add_gauge_uint64
  metrics_add_histogram metrics_histogram_observe metrics_add_base_histogram metrics_base_histogram_observe
  metrics_histogram_flush metrics_set_histogram_flush_interval_target metrics_flush metrics_set_flush_interval_ms
  metrics_set_min_sample_interval_us
  otlp_logs_create_context otlp_logs_destroy_context otlp_logs_add_resource otlp_logs_add_resource_attribute_string
  otlp_logs_add_resource_attribute_int otlp_logs_add_scope otlp_logs_write_event
  otlp_logs_write_event_with_severity otlp_logs_flush
  netflow_init netflow_set_collector_addr netflow_set_collector_port netflow_set_max_packet_size
  netflow_set_buf_size netflow_get_buf_size netflow_set_buf_data_root netflow_get_buf_data_root
  netflow_set_file_write_enabled netflow_set_file_write_max_size netflow_get_file_write_max_size
  netflow_set_file_write_max_age netflow_get_file_write_max_age netflow_set_ipc_enabled
  netflow_set_ipc_sockets_dir netflow_get_ipc_sockets_dir netflow_source_set_id netflow_source_set_tag
  netflow_field_create netflow_field_set_type netflow_field_set_len netflow_field_destroy
  netflow_template_create netflow_template_add_field netflow_template_destroy netflow_start netflow_send
  netflow_flush netflow_destroy`
  .trim()
  .split(/\s+/)

/** What the guide's text calls otherwise than the headers. */
const GUIDE_SPELLINGS = [
  'schema_set_buffer_size',
  'schema_set_buffer_data_root',
  'field_set_array_length',
  'timestamp_get',
]

const TYPES = `BOOL CHAR SHORT USHORT INT UINT LONG ULONG LONGLONG ULONGLONG UCHAR FLOAT DOUBLE INT8 INT16 INT32 INT64
  UINT8 UINT16 UINT32 UINT64 TIMESTAMP`.split(/\s+/)

const page = readFileSync(join(root, 'docs/telemetry-api.md'), 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| '))
const firstCells = rows.map((row) => row.split(' | ')[0] ?? '').join('\n')

test('docs/telemetry-api.md has a row for each function and each field type of the guide', () => {
  const named = new Set([...firstCells.matchAll(/`([a-z_\d]+)/g)].map(([, name]) => name))
  assert.deepEqual(
    [...FUNCTIONS, ...GUIDE_SPELLINGS].filter((name) => !named.has(name)),
    [],
  )
  const kinds = new Set([...firstCells.matchAll(/`([A-Z0-9]+)`/g)].map(([, name]) => name))
  assert.deepEqual(
    TYPES.filter((type) => !kinds.has(type)),
    [],
  )
})

test('what docs/telemetry-api.md calls in its example is there', () => {
  const [, code = ''] = /```ts\n(.*?)```/s.exec(page) ?? []
  const called = [...code.matchAll(/(?<![.\w])([a-z]\w+)\(/g)].map(([, name = '']) => name)
  assert.ok(called.includes('createSchema'))
  assert.deepEqual(
    called.filter((name) => !(name in sdk)),
    [],
  )
})
