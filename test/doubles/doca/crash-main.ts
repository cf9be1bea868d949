// Does what ends a process on a double: `crash-main.ts FOLDER CASE`.
import { join } from 'node:path'
import { Calls } from './calls.ts'

const [folder = '', name = ''] = process.argv.slice(2)
const calls = new Calls({
  common: join(folder, 'libdoca_common.so.2'),
  telemetry: join(folder, 'libdoca_telemetry.so.2'),
})
const CAPABILITY = 'doca_telemetry_adp_retx_cap_is_supported'

const CASES: Readonly<Record<string, () => void>> = {
  /** Only ends when the calls hang. */
  'two calls at once'() {
    const { info } = calls.open()
    void calls.callAsync(CAPABILITY, 'p', info)
    calls.call(CAPABILITY, 'p', info)
  },
  'a destroyed context'() {
    const context = calls.number('doca_telemetry_adp_retx_create', 'p', calls.open().dev)
    calls.good('doca_telemetry_adp_retx_destroy', 'p', context)
    calls.call('doca_telemetry_adp_retx_start', 'p', context)
  },
  'a context of another kind'() {
    const context = calls.number('doca_telemetry_adp_retx_create', 'p', calls.open().dev)
    calls.call('doca_telemetry_diag_start', 'p', context)
  },
  'a call'() {
    calls.open()
  },
}

CASES[name]?.()
