import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { needs } from '../../debian.ts'
import { Calls } from './calls.ts'
import { DocaDouble } from './doca-double.ts'

const NEEDS = needs('cc')
const SECOND = 1_000_000_000n
const RETX = 'doca_telemetry_adp_retx_'

function bringUp(t: TestContext): { double: DocaDouble; calls: Calls } {
  const double = new DocaDouble(t)
  double.play({ mlx5_0: {} })
  double.setElapsed(0n)
  return { double, calls: new Calls(double) }
}

const cText = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1').replace(/\0.*/s, '')

test('lists devices by their names', NEEDS, (t) => {
  const { double, calls } = bringUp(t)
  double.play({
    mlx5_0: { pci: '0000:3a:00.0', iface: 'eth0', mac: '0c:42:a1:00:ff:0e', facts: { active_rate_mbps: 2500 } },
    mlx5_1: {},
  })
  const { infos, list } = calls.list()
  const text = new Uint8Array(256)
  calls.good('doca_devinfo_get_pci_addr_str', 'p p', infos[0]!, text)
  assert.equal(cText(text), '0000:3a:00.0')
  calls.good('doca_devinfo_get_ibdev_name', 'p p uint32_t', infos[1]!, text, 64)
  assert.equal(cText(text), 'mlx5_1')
  calls.good('doca_devinfo_get_iface_name', 'p p uint32_t', infos[0]!, text, 256)
  assert.equal(cText(text), 'eth0')
  calls.good('doca_devinfo_get_mac_addr', 'p p uint32_t', infos[0]!, text, 6)
  assert.deepEqual([...text.subarray(0, 6)], [0x0c, 0x42, 0xa1, 0, 0xff, 0x0e])
  const rate = new Float64Array(1)
  calls.good('doca_devinfo_get_active_rate', 'p p', infos[0]!, rate)
  assert.equal(rate[0], 2.5)
  assert.equal(calls.call('doca_devinfo_get_iface_name', 'p p uint32_t', infos[1]!, text, 256), 'OPERATING_SYSTEM')
  assert.equal(calls.call('doca_devinfo_get_mac_addr', 'p p uint32_t', infos[1]!, text, 6), 'NOT_SUPPORTED')
  calls.good('doca_devinfo_destroy_list', 'p', list)
  assert.equal(calls.call('doca_devinfo_get_ibdev_name', 'p p uint32_t', infos[1]!, text, 64), 'INVALID_VALUE')
  double.play({})
  assert.equal(calls.call('doca_devinfo_create_list', 'p p', new BigUint64Array(1), new BigUint64Array(1)), 'NOT_FOUND')
})

test('a device that returns is another', NEEDS, (t) => {
  const { double, calls } = bringUp(t)
  const { dev, info } = calls.open()
  calls.good(`${RETX}cap_is_supported`, 'p', info)
  double.play({})
  assert.equal(calls.call(`${RETX}cap_is_supported`, 'p', info), 'OPERATING_SYSTEM')
  double.play({ mlx5_0: {} })
  assert.equal(calls.call(`${RETX}cap_is_supported`, 'p', info), 'OPERATING_SYSTEM')
  calls.good(`${RETX}cap_is_supported`, 'p', calls.open().info)
  calls.good('doca_dev_close', 'p', dev)
  assert.equal(double.total('opens'), 1)
})

test('a function fails as often as the scenario says, on its device', NEEDS, (t) => {
  const { double, calls } = bringUp(t)
  double.play({ mlx5_0: { faults: [`error ${RETX}cap_* DOCA_ERROR_NOT_FOUND 2`] }, mlx5_1: {} })
  const first = calls.open(0)
  const second = calls.open(1)
  const answers = [first, first, second, first].map(({ info }) => calls.call(`${RETX}cap_is_supported`, 'p', info))
  assert.deepEqual(answers, ['NOT_FOUND', 'NOT_FOUND', 'SUCCESS', 'SUCCESS'])
})

test('a hang lasts as long as the scenario says', NEEDS, async (t) => {
  const { double, calls } = bringUp(t)
  const { info } = calls.open()
  double.play({ mlx5_0: { faults: [`hang ${RETX}cap_is_supported`] } })
  const before = double.total('calls')
  let ended = false
  const call = calls.callAsync(`${RETX}cap_is_supported`, 'p', info).then((answer) => {
    ended = true
    return answer
  })
  while (double.total('calls') === before) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(ended, false)
  double.play({ mlx5_0: {} })
  assert.equal(await call, 'SUCCESS')
})

/** A started histogram of four bins. */
function startHistogram(calls: Calls): bigint {
  const context = calls.number(`${RETX}create`, 'p', calls.open().dev)
  calls.good(`${RETX}set_hist_num_bins`, 'p uint32_t', context, 4)
  calls.good(`${RETX}set_hist_bin0_width`, 'p uint16_t', context, 10)
  calls.good(`${RETX}set_hist_bin1_width`, 'p uint16_t', context, 20)
  for (const unit of [0, 3, 16])
    assert.equal(calls.call(`${RETX}set_hist_time_unit`, 'p int', context, unit), 'INVALID_VALUE')
  calls.good(`${RETX}set_hist_time_unit`, 'p int', context, 2)
  calls.good(`${RETX}set_hist_count_enable`, 'p uint8_t', context, 1)
  calls.good(`${RETX}start`, 'p', context)
  return context
}

test('bins grow while the histogram is started; those beyond the last are nonsense', NEEDS, (t) => {
  const { double, calls } = bringUp(t)
  double.play({ mlx5_0: { bins: [5, 0, 7, 1_000_000], facts: { max_bins: 6 } } })
  const context = startHistogram(calls)
  const bins = new BigUint64Array(8)
  double.setElapsed(3n * SECOND)
  const count = new BigUint64Array(1)
  calls.good(`${RETX}read_hist_bins`, 'p p p', context, count, bins)
  assert.equal(count[0], 4n)
  assert.deepEqual([...bins.subarray(0, 4)], [15n, 0n, 21n, 3_000_000n])
  assert.equal(bins[4]! >> 32n, 0xbadbadban, 'written, but not a count')
  assert.deepEqual([...bins.subarray(6)], [0n, 0n])
  double.play({ mlx5_0: { bins: [5], faults: [`claim ${RETX}read_hist_bins 4000`] } })
  calls.good(`${RETX}read_hist_bins`, 'p p p', context, count, new BigUint64Array(64))
  assert.equal(count[0], 4000n)
})

test('a histogram that somebody else configures says so once', NEEDS, (t) => {
  const { double, calls } = bringUp(t)
  const context = startHistogram(calls)
  const changed = () => calls.number(`${RETX}detect_hist_conf_change`, 'p', context)
  assert.equal(changed(), 0n)
  double.play({ mlx5_0: { changed: [1, 8, 3, 4, 1, 8] } })
  assert.deepEqual([changed(), changed()], [1n, 0n])
  assert.equal(calls.number(`${RETX}get_hist_num_bins`, 'p', context), 8n)
  assert.equal(calls.number(`${RETX}get_hist_bin1_width`, 'p', context), 4n)
})

test('refuses steps out of order', NEEDS, (t) => {
  const { double, calls } = bringUp(t)
  const { dev } = calls.open()
  const context = calls.number(`${RETX}create`, 'p', dev)
  assert.equal(calls.call(`${RETX}start`, 'p', context), 'INVALID_VALUE')
  assert.equal(calls.call(`${RETX}stop`, 'p', context), 'BAD_STATE')
  assert.equal(calls.call(`${RETX}set_hist_num_bins`, 'p uint32_t', context, 17), 'INVALID_VALUE')
  assert.equal(calls.call('doca_dev_close', 'p', dev), 'IN_USE')
  calls.good(`${RETX}destroy`, 'p', context)
  calls.good('doca_dev_close', 'p', dev)
  const started = startHistogram(calls)
  assert.equal(calls.call(`${RETX}set_hist_num_bins`, 'p uint32_t', started, 3), 'BAD_STATE')
  assert.equal(calls.call(`${RETX}start`, 'p', started), 'BAD_STATE')
  assert.equal(calls.call(`${RETX}destroy`, 'p', started), 'BAD_STATE')
  assert.deepEqual(
    ['lists', 'opens', 'contexts'].map((name) => double.total(name)),
    [0, 1, 1],
  )
})
