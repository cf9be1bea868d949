import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstBroken, joinChains } from '../sources/chains/chain.ts'
import { ReadRefusal } from '../sources/chains/chain-context.ts'
import { ethtool } from '../sources/ethtool/ethtool.ts'
import { parseCounter } from '../sources/rdma/parse.ts'
import type { AgentFacts } from './agent-facts.ts'
import {
  ADAPTER,
  ask,
  brokenLinkFor,
  DEFINITIONS,
  deviceFacts,
  PORT_FOLDER,
  testConfig,
  testNode,
} from './test-chains.ts'

const DENIED = new ReadRefusal('denied', 'EACCES')

/** A file without read permission, the name to explain, and the place of the fault. */
const DENIALS = [
  { file: 'mlx5_3/ports/1/state', of: 'mlx5_3' },
  { file: 'mlx5_3/ports/1/state', of: 'rdma_port_state{rdma_device="mlx5_3"}' },
  { file: 'hw_counters/packet_seq_err', of: 'mlx5_3' },
  { file: 'hw_counters/packet_seq_err', of: 'rdma_hw_packet_seq_err_total{rdma_device="mlx5_3"}' },
  { file: 'hw_counters/packet_seq_err', of: 'rdma' },
  { file: '0000:9a:00.0/current_link_speed', of: '0000:9a:00.0' },
  {
    file: '0000:9a:00.0/current_link_speed',
    of: 'pci_device_current_link_bandwidth_bytes_per_second{pci_address="0000:9a:00.0"}',
  },
  { file: '0000:9a:00.0/vendor', of: 'pci_device_numa_node' },
  { file: '0000:9a:00.0/aer_dev_correctable', of: '0000:9a:00.0' },
  { file: '0000:9a:00.0/aer_dev_correctable', of: 'pci_aer_errors_total' },
  { file: 'eth3/speed', of: 'netdev_speed_bytes_per_second{device="eth3"}' },
  { file: 'eth3/speed', of: 'net-eth3' },
  { file: 'proc/stat', of: 'host' },
  { file: 'proc/meminfo', of: 'host' },
] as const

for (const { file, of } of DENIALS) {
  test(`${of} is broken where ${file} may not be read, and says how that is permitted`, async (t) => {
    const node = testNode(t)
    node.write(`${ADAPTER}/aer_dev_correctable`, 'RxErr 0\nTOTAL_ERR_COR 0\n')
    const link = await brokenLinkFor(node, of, { refused: { [file]: DENIED } })
    assert.deepEqual([link.name, link.tried.endsWith(file)], ['permission', true], JSON.stringify(link))
    assert.match(link.answer, /EACCES: not permitted/)
    assert.match(link.fix ?? '', new RegExp(`^sudo chmod a\\+r \\S*${file}, or run Sonde as a user who may read it$`))
  })
}

test('a readable value is not affected by the unreadable file of another value', async (t) => {
  const refused = { '/state': DENIED, 'eth3/operstate': DENIED, current_link_speed: DENIED }
  for (const wanted of ['rdma_hw_packet_seq_err_total', 'netdev_rx_bytes_total', 'pci_device_numa_node']) {
    const node = testNode(t)
    node.write(`${ADAPTER}/numa_node`, '1\n')
    const [chain] = await ask(node, wanted, { refused })
    assert.equal(firstBroken(chain?.links ?? []), undefined, wanted)
    assert.equal(chain?.links.find(({ name }) => name === 'link')?.state, 'unknown', wanted)
  }
})

test('of many files that may not be read the folder is permitted, and their number is told', async (t) => {
  const node = testNode(t)
  const refused: Record<string, ReadRefusal> = {}
  for (const name of ['packet_seq_err', 'out_of_buffer', 'rp_cnp_handled', 'np_cnp_sent', 'rx_write_requests']) {
    node.write(`${PORT_FOLDER}/hw_counters/${name}`, '0\n')
    refused[`hw_counters/${name}`] = DENIED
  }
  const link = await brokenLinkFor(node, 'mlx5_3', { refused })
  assert.match(link.answer, /; 5 of \d+ files$/)
  assert.match(link.fix ?? '', /^sudo chmod a\+r \S+\/hw_counters\/\*, or run/)
})

const UNREADABLE = {
  'a number of 400 digits': '9'.repeat(400),
  'words of four octets past 64 bits': String(2n ** 62n),
  'a file of 1 MB': `${'0'.repeat(1_000_000)}7`,
  'a negative number': '-1',
  'two numbers': '12 34',
}

for (const [what, text] of Object.entries(UNREADABLE)) {
  test(`${what} is not a counter for a walk or for the source`, async (t) => {
    assert.equal(typeof parseCounter(Buffer.from(text.slice(0, 4096)), 4) === 'string' || text.length > 4096, true)
    const node = testNode(t)
    node.write(`${PORT_FOLDER}/counters/port_xmit_data`, `${text}\n`)
    for (const wanted of ['mlx5_3', 'rdma', 'rdma_port_xmit_data_bytes_total']) {
      const link = await brokenLinkFor(node, wanted)
      assert.deepEqual([link.name, link.tried.endsWith('/port_xmit_data')], ['counters', true])
      assert.ok(link.answer.length <= 401, `${link.answer.length} characters`)
      assert.doesNotMatch(link.fix ?? '', /performance management/)
    }
    const [other] = await ask(node, 'rdma_hw_packet_seq_err_total')
    assert.equal(other?.links.find(({ name }) => name === 'traffic')?.answer, '8.00 kB received, nothing known sent')
  })
}

test('a fault of one port among several breaks the source, as no other port makes it good', async (t) => {
  const node = testNode(t)
  for (const file of node.files().filter((path) => path.startsWith(PORT_FOLDER)))
    node.write(file.replace('mlx5_3', 'mlx5_2'), node.read(file))
  node.write(`${PORT_FOLDER}/counters/symbol_error`, '-1\n')
  const link = await brokenLinkFor(node, 'rdma')
  assert.match(link.answer, /^it holds something else than expected: "-1" \(at 1 of 2: mlx5_3\/1\)/)
})

test('a counter of a driver is walked by its label, and one that is not there is', async (t) => {
  const node = testNode(t)
  node.write(`${PORT_FOLDER}/hw_counters/own_counter`, '12\n')
  const seriesOf = (counter: string) => `rdma_driver_statistic{rdma_device="mlx5_3",counter="${counter}"}`
  const [sound] = await ask(node, seriesOf('own_counter'))
  assert.equal(sound?.links.find(({ name }) => name === 'counters')?.answer, '12')
  assert.equal((await brokenLinkFor(node, seriesOf('../../state'))).answer, 'not there')
})

test('a width, a table and a total that hold no number are broken where their sources make nothing of them', async (t) => {
  const node = testNode(t)
  node.write(`${ADAPTER}/current_link_width`, 'N/A (no PMA)\n')
  assert.match((await brokenLinkFor(node, '0000:9a:00.0')).answer, /N\/A \(no PMA\)/)
  node.write(`${ADAPTER}/current_link_width`, '16\n')
  node.write(`${ADAPTER}/aer_dev_fatal`, 'DLP 0\n')
  assert.match((await brokenLinkFor(node, '0000:9a:00.0')).answer, /it holds no total/)
  node.write('proc/meminfo', 'garbage\n')
  assert.equal((await brokenLinkFor(node, 'host_memory_total_bytes')).name, 'counters')
  node.write('sys/class/net/eth3/speed', 'fast\n')
  assert.match((await brokenLinkFor(node, 'netdev_speed_bytes_per_second')).answer, /"fast"/)
})

test('an adapter without a driver is bound where the module is loaded already', async (t) => {
  const node = testNode(t)
  node.unlink(`${ADAPTER}/driver`)
  node.write('sys/bus/pci/drivers/mlx5_core/new_id', '')
  const command = `echo 0000:9a:00.0 | sudo tee ${node.paths.sysfs}/bus/pci/drivers/mlx5_core/bind`
  assert.equal((await brokenLinkFor(node, '0000:9a:00.0')).fix, command)
})

test('a device that left says when and why, and how it comes back', async (t) => {
  const node = testNode(t)
  const goneMs = Date.now() - 12_000
  const left = { simulated: false, goneMs, goneReason: 'device mlx5_4 is no longer there' }
  const facts: AgentFacts = {
    source: async (name) => ({ name, state: 'reading', reason: '', lastSampleMs: Date.now() }),
    series: async () => [],
    types: async () => [],
    devices: async () => [
      deviceFacts({ id: 'nic-mlx5_4-1', kind: 'nic', name: 'mlx5_4', address: '0000:44:00.0', ...left }),
      deviceFacts({ id: 'gpu-2', kind: 'gpu', name: 'GPU 2', address: '0000:33:00.0', ...left }),
      deviceFacts({ id: 'nic-mlx5_5-1', kind: 'nic', name: 'mlx5_5', address: '0000:9a:00.0', ...left }),
    ],
  }
  for (const wanted of ['nic-mlx5_4-1', 'rdma_hw_packet_seq_err_total{rdma_device="mlx5_4"}']) {
    const link = await brokenLinkFor(node, wanted, { facts })
    assert.match(link.answer, /^mlx5_4 \(0000:44:00\.0\): it left 12 s ago: device mlx5_4 is no longer there$/)
    assert.match(link.fix ?? '', /^echo 1 \| sudo tee \S+\/bus\/pci\/rescan/)
  }
  assert.match((await brokenLinkFor(node, 'gpu-2', { facts })).fix ?? '', /rescan/)
  node.unlink(`${ADAPTER}/driver`)
  assert.equal((await brokenLinkFor(node, 'nic-mlx5_5-1', { facts })).fix, 'sudo modprobe mlx5_core')
})

test('a source that only a child process may ask is tried where no agent answers', async (t) => {
  const node = testNode(t)
  node.write('sys/bus/pci/drivers/mlx5_core/bind', '')
  const factsOf = (state: 'reading' | 'failed' | 'starting'): AgentFacts => ({
    source: async (name) => ({ name, state, reason: 'the kernel knows none', lastSampleMs: Date.now() }),
    series: async () => [{ metric: 'm', labels: { device: 'eth3' }, value: '7', timeMs: Date.now(), absent: '' }],
    types: async () => [],
    devices: async () => [],
  })
  const definitions = [...DEFINITIONS, ethtool]
  const configured = [testConfig(ethtool)]
  const askWith = (state: 'reading' | 'failed' | 'starting', of = 'net-eth3') =>
    ask(node, of, { definitions, configured, trial: async () => factsOf(state) })
  const [failed] = await askWith('failed')
  assert.deepEqual([failed?.source, failed?.links.at(-1)?.name], ['ethtool', 'value'])
  assert.equal(failed?.links.at(-1)?.answer, 'failed: the kernel knows none')
  assert.match((await askWith('starting'))[0]?.links.at(-1)?.answer ?? '', /^no answer within/)
  assert.match((await askWith('reading'))[0]?.links.at(-1)?.answer ?? '', /^(\d) of \1 values, newest .* ago$/)
  assert.equal((await askWith('reading', 'ethtool'))[0]?.links.at(-1)?.state, 'ok')
})

test('where several devices have the same broken link, the others are named, and beyond three counted', () => {
  const chainOf = (device: string, state: 'ok' | 'broken') => ({
    device,
    links: [{ name: 'permission' as const, state, tried: `/${device}`, answer: 'EACCES' }],
  })
  const failing = ['mlx5_0', 'mlx5_1', 'mlx5_2', 'mlx5_3', 'mlx5_4', 'mlx5_5'].map((name) => chainOf(name, 'broken'))
  const answerOf = (...chains: Parameters<typeof joinChains>[0]) => joinChains(chains)[0]?.answer
  assert.equal(answerOf(...failing), 'EACCES (at 6 of 6: mlx5_0, mlx5_1, mlx5_2 and 3 more)')
  assert.equal(answerOf(...failing.slice(0, 2)), 'EACCES (at 2 of 2: mlx5_0, mlx5_1)')
  assert.equal(answerOf(chainOf('eth9', 'ok'), ...failing.slice(0, 2)), 'EACCES (1 of 3 ok); mlx5_0, mlx5_1: EACCES')
})
