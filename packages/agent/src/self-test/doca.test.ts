import assert from 'node:assert/strict'
import { hostname, userInfo } from 'node:os'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../test/debian.ts'
import { DocaDouble, type DoubleDevice } from '../../../../test/doubles/doca/doca-double.ts'
import { TestNode } from '../sources/test-node.ts'
import { reportText } from './report.ts'
import { runSelfTest, type SelfTestOptions, type SelfTestReport } from './run-self-test.ts'

const NEEDS = needs('cc')

/** A ConnectX-7 as the kernel shows it, with the values of the healthy double. */
function addDevice(node: TestNode, name: string, address: string): void {
  const adapter = `sys/devices/pci0000:97/${address}`
  const device = `sys/class/infiniband/${name}`
  const files = {
    [`${adapter}/vendor`]: '0x15b3',
    [`${adapter}/device`]: '0x1021',
    [`${adapter}/current_link_speed`]: '32.0 GT/s PCIe',
    [`${adapter}/current_link_width`]: '16',
    [`${device}/fw_ver`]: '28.43.1014',
    [`${device}/ports/1/state`]: '4: ACTIVE',
    [`${device}/ports/1/rate`]: '400 Gb/sec (4X NDR)',
    [`${device}/ports/1/counters/port_rcv_data`]: '1000',
    [`${device}/ports/1/counters/port_xmit_data`]: '1000',
    [`${device}/ports/1/counters/link_error_recovery`]: '0',
  }
  for (const [path, text] of Object.entries(files)) node.write(path, `${text}\n`)
  node.link(`${device}/device`, `../../../devices/pci0000:97/${address}`)
}

interface Tested {
  readonly report: SelfTestReport
  readonly text: string
  /** Verdict of a check of the first device: its state, and its texts. */
  readonly of: (check: string, device?: number) => string
}

/** Runs the self-test on a node with devices of the double. */
async function tested(
  t: TestContext,
  devices: Readonly<Record<string, DoubleDevice>>,
  { faults = [], ...options }: Partial<SelfTestOptions> & { readonly faults?: readonly string[] } = {},
): Promise<Tested> {
  const double = new DocaDouble(t)
  double.play(devices, faults)
  const node = new TestNode(t)
  node.write('proc/sys/kernel/osrelease', '6.15.0-test\n')
  node.write('proc/sys/kernel/tainted', '0\n')
  for (const [at, name] of Object.keys(devices).entries()) addDevice(node, name, `0000:9a:00.${at}`)
  const paths = { ...node.paths, doca_library: double.folder }
  const report = await runSelfTest('doca', { paths, acceptsTaint: false, pauseMs: 1, ...options })
  const text = reportText(report, [{ of: 'Sonde', value: '0.1.0' }])
  const of = (check: string, device = 1) => {
    const found = report.results.find((result) => result.check === check && result.device === device)
    return Object.values(found?.verdict ?? {}).join(': ')
  }
  return { report, text, of }
}

test('a healthy device passes, and its report identifies neither machine nor network', NEEDS, async (t) => {
  const { report, text, of } = await tested(t, { mlx5_0: { iface: 'eth7', mac: '02:00:00:00:00:07' } })
  assert.equal(of('phy.capabilities'), 'passed: operation_info, counter_and_ber_info, module_info')
  assert.equal(report.results.filter(({ verdict }) => verdict.state === 'failed').length, 0, text)
  const secrets = ['mlx5_0', 'eth7', '02:00:00', '9a:00.0', '10:00.0', 'MT2351FT17300', hostname(), userInfo().username]
  for (const secret of secrets) assert.ok(!new RegExp(`(?<!\\w)${secret}(?!\\w)`).test(text), `${secret} in ${text}`)
})
