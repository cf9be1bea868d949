import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../../test/debian.ts'
import { isRunning } from '../../../../../test/sonde-process.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { type DoubleStart, devicesOf, readDouble, SOURCE } from '../../../test/doca-agent.ts'
import { docaTelemetryDiag } from '../doca-telemetry-diag/doca-telemetry-diag.ts'

const NEEDS = needs('cc')
const READ = 'doca_telemetry_adp_retx_read_hist_bins'
/** Calls that open a device, read it, and close it. */
const CALLS = {
  opening: [
    'doca_dev_open',
    'doca_telemetry_adp_retx_cap_is_supported',
    'doca_telemetry_adp_retx_cap_get_hist_max_bins',
    'doca_telemetry_adp_retx_create',
    'doca_telemetry_adp_retx_set_hist_num_bins',
    'doca_telemetry_adp_retx_start',
    'doca_telemetry_adp_retx_get_hist_time_unit',
  ],
  reading: ['doca_telemetry_adp_retx_detect_hist_conf_change', READ],
  closing: ['doca_telemetry_adp_retx_stop', 'doca_telemetry_adp_retx_destroy', 'doca_dev_close'],
} as const

/** The same as {@link readDouble}, with frequent listings of the devices. */
async function bringUp(t: TestContext, start: DoubleStart = {}) {
  const started = await readDouble(t, start)
  await started.hurry()
  return started
}

for (const call of [...CALLS.opening, ...CALLS.reading]) {
  test(`a device whose ${call} hangs is reported as stuck, and continues when the call ends`, NEEDS, async (t) => {
    const isOpening = (CALLS.opening as readonly string[]).includes(call)
    const { double, told, read } = await bringUp(t)
    await read('mlx5_0', 'mlx5_1', 'mlx5_2')
    if (isOpening) {
      const { mlx5_1: _, ...others } = devicesOf(3)
      double.play(others)
      await read('mlx5_0', 'mlx5_2')
    }
    double.play(devicesOf(3, { faults: [`hang ${call}`] }))
    const stuck = await until('it is stuck', async () => (await told()).stuck[0])
    assert.deepEqual([stuck.device, stuck.duty], ['mlx5_1', isOpening ? 'open' : 'read'])
    for (let round = 0; round < 3; round++) await read('mlx5_0', 'mlx5_2')
    const { state, restarts } = await told()
    assert.deepEqual([state, restarts], ['reading', 0])
    double.play(devicesOf(3))
    await read('mlx5_0', 'mlx5_1', 'mlx5_2')
    await until('it is told', async () => (await told()).stuck.length === 0)
  })
}

for (const call of ['doca_devinfo_create_list', 'doca_devinfo_destroy_list', 'doca_devinfo_get_ibdev_name']) {
  test(`devices are read while ${call} hangs`, NEEDS, async (t) => {
    const { double, agent, told, read } = await bringUp(t)
    await read('mlx5_0', 'mlx5_1', 'mlx5_2')
    const isOfDevice = call.includes('_get_')
    if (isOfDevice) double.play(devicesOf(3, { faults: [`hang ${call}`] }))
    else double.play(devicesOf(3), [`hang ${call}`])
    await until('it is told', async () => {
      const failures = agent.sources.find(({ name }) => name === SOURCE)?.stats.failed.latest() ?? []
      return (
        (await told()).stuck.some(({ duty }) => duty === 'list') ||
        failures.some(({ message }) => /names$/.test(message))
      )
    })
    for (let round = 0; round < 3; round++) await read('mlx5_0', 'mlx5_1', 'mlx5_2')
    const { state, restarts } = await told()
    assert.deepEqual([state, restarts], ['reading', 0])
    double.play(devicesOf(4))
    await read('mlx5_0', 'mlx5_1', 'mlx5_2', 'mlx5_3')
  })
}

test('a device that hangs in a call of another source is gone, and the others are read', NEEDS, async (t) => {
  const { double, read } = await bringUp(t, { beside: [docaTelemetryDiag] })
  await read('mlx5_0', 'mlx5_1', 'mlx5_2')
  double.play(devicesOf(3, { faults: ['hang doca_telemetry_diag_query_counters*'] }))
  for (let round = 0; round < 3; round++) await read('mlx5_0', 'mlx5_2')
  double.play(devicesOf(3))
  await read('mlx5_0', 'mlx5_1', 'mlx5_2')
})

test('devices are read although another never returns its name', NEEDS, async (t) => {
  const { double, read } = await bringUp(t, { devices: devicesOf(3, { faults: ['hang doca_devinfo_get_ibdev_name'] }) })
  await read('mlx5_0', 'mlx5_2')
  double.play(devicesOf(3))
  await read('mlx5_0', 'mlx5_1', 'mlx5_2')
})

for (const call of CALLS.closing) {
  test(`a device that leaves and returns while ${call} hangs is opened when the call ends`, NEEDS, async (t) => {
    const { double, read } = await bringUp(t)
    await read('mlx5_0', 'mlx5_1', 'mlx5_2')
    const { mlx5_1: _, ...others } = devicesOf(3)
    const hanging = `hang ${call}`
    double.play(others, [hanging])
    await read('mlx5_0', 'mlx5_2')
    double.play(devicesOf(3, { faults: [hanging] }))
    for (let round = 0; round < 3; round++) await read('mlx5_0', 'mlx5_2')
    double.play(devicesOf(3))
    await read('mlx5_0', 'mlx5_1', 'mlx5_2')
    assert.deepEqual([double.total('opens'), double.total('contexts')], [3, 3])
    double.play(others)
    await until('it is given back', () => double.total('opens') === 2 && double.total('contexts') === 2)
  })
}

test('an agent ends while calls hang, also while a device is opened', NEEDS, async (t) => {
  for (const call of ['doca_dev_open', READ, 'doca_devinfo_create_list']) {
    const { double, agent, child, told } = await bringUp(t)
    if (call === 'doca_dev_open')
      double.play({ ...devicesOf(4, { faults: [`hang ${READ}`] }), mlx5_3: { faults: [`hang ${call}`] } })
    else double.play(devicesOf(3), [`hang ${call}`])
    await until('calls hang', async () => (await told()).stuck.length > 0)
    const pid = Number(child())
    await agent.close()
    await until('its child ended', () => !isRunning(pid))
  }
})
