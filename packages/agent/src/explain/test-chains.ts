import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ExplainLink, ExplainWalk } from '@sonde/sdk/api'
import { firstBroken } from '../sources/chains/chain.ts'
import { type ChainContext, KernelContext, type ReadRefusal } from '../sources/chains/chain-context.ts'
import type { DataSourceConfig } from '../sources/data-sources.ts'
import { host } from '../sources/host/host.ts'
import { netdev } from '../sources/netdev/netdev.ts'
import { pci } from '../sources/pci/pci.ts'
import { rdma } from '../sources/rdma/rdma.ts'
import type { SourceDefinition } from '../sources/source.ts'
import { TestNode } from '../sources/test-node.ts'
import type { DeviceFacts } from './agent-facts.ts'
import { explain } from './explain.ts'
import type { ExplainOptions } from './explanation.ts'

/** Sources of the node of {@link testNode}. */
export const DEFINITIONS = [host, netdev, rdma, pci]

/** Folder of its RDMA port. */
export const PORT_FOLDER = 'sys/class/infiniband/mlx5_3/ports/1'
/** Folder of the adapter below. */
export const ADAPTER = 'sys/devices/pci0000:97/0000:9a:00.0'

/** A node with one interface, one RDMA port and the adapter below both; the values are ours. */
export function testNode(t: TestContext): TestNode {
  const node = new TestNode(t)
  const write = (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) node.write(path, `${text}\n`)
  }
  const interfaces = [
    'Inter-|   Receive                                                |  Transmit',
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
    '  eth3: 914206311480 9 0 0 0 0 0 0 5000 9 0 0 0 0 0 0',
  ]
  write({
    'proc/net/dev': interfaces.join('\n'),
    'proc/stat': 'cpu0 1 2 3 4 5 6 7 8 9 10',
    'proc/meminfo': 'MemTotal: 1 kB',
  })
  write({ 'sys/class/net/eth3/operstate': 'up', 'sys/class/net/eth3/carrier': '1' })
  write({
    [`${PORT_FOLDER}/state`]: '4: ACTIVE',
    [`${PORT_FOLDER}/phys_state`]: '5: LinkUp',
    [`${PORT_FOLDER}/link_layer`]: 'Ethernet',
  })
  write({ [`${PORT_FOLDER}/counters/port_xmit_data`]: '1000', [`${PORT_FOLDER}/counters/port_rcv_data`]: '2000' })
  write({ [`${PORT_FOLDER}/hw_counters/packet_seq_err`]: '7' })
  write({
    [`${ADAPTER}/vendor`]: '0x15b3',
    [`${ADAPTER}/device`]: '0x1021',
    [`${ADAPTER}/class`]: '0x020700',
    [`${ADAPTER}/net/eth3/mtu`]: '4200',
  })
  write({ [`${ADAPTER}/current_link_speed`]: '32.0 GT/s PCIe', [`${ADAPTER}/current_link_width`]: '16' })
  node.link(`${ADAPTER}/driver`, '../../../bus/pci/drivers/mlx5_core')
  node.link('sys/bus/pci/devices/0000:9a:00.0', '../../../devices/pci0000:97/0000:9a:00.0')
  node.link('sys/class/infiniband/mlx5_3/device', '../../../devices/pci0000:97/0000:9a:00.0')
  node.link('sys/class/net/eth3/device', '../../../devices/pci0000:97/0000:9a:00.0')
  return node
}

/** Takes the RDMA devices away, and not what their links lead to. */
export function removeRdma(node: TestNode): void {
  node.unlink('sys/class/infiniband/mlx5_3/device')
  node.remove('sys/class/infiniband')
}

/** Options of a walk. Default: all sources are configured, and there is no agent. */
export interface ChainOptions extends Partial<Pick<ExplainOptions, 'definitions' | 'configured' | 'facts' | 'trial'>> {
  /** What the kernel refuses, by the end of the path. */
  readonly refused?: Readonly<Record<string, ReadRefusal>>
  /** See {@link ChainContext}. */
  readonly library?: string
}

/** A source as it is configured. */
export function testConfig(definition: SourceDefinition, options: object = { devices: [] }): DataSourceConfig {
  return { name: definition.name, definition, intervalMs: 1000, options }
}

/** Walks the chain of a name on a node. */
export async function ask(
  node: TestNode,
  of: string,
  { refused = {}, library = '', ...asked }: ChainOptions = {},
): Promise<ExplainWalk[]> {
  const kernel = new KernelContext(node.paths)
  const refusalOf = (path: string) => Object.entries(refused).find(([end]) => path.endsWith(end))?.[1]
  const { procfs, sysfs, devfs } = kernel
  const context: ChainContext = {
    ...{ procfs, sysfs, devfs, doca_library: library },
    read: async (path) => refusalOf(path) ?? kernel.read(path),
    permits: async (path) => refusalOf(path) ?? kernel.permits(path),
    list: (path) => kernel.list(path),
    target: (path) => kernel.target(path),
  }
  const configured = DEFINITIONS.map((definition) => testConfig(definition))
  return explain(of, { context, definitions: DEFINITIONS, configured, agentPlace: 'the agent', ...asked })
}

/** A device as an agent tells of it. */
export function deviceFacts(facts: Pick<DeviceFacts, 'id' | 'kind' | 'name'> & Partial<DeviceFacts>): DeviceFacts {
  const { id, address = '' } = facts
  const series = address === '' ? {} : { pci: { pci_address: address } }
  const host = ''
  return { labels: {}, series, host, type: 'made', source: 'made', address, simulated: id.startsWith('sim-'), ...facts }
}

/** The first broken link of the first chain. */
export async function brokenLinkFor(node: TestNode, of: string, asked: ChainOptions = {}): Promise<ExplainLink> {
  const [first] = await ask(node, of, asked)
  const link = firstBroken(first?.links ?? [])
  assert.ok(link !== undefined, `${of}: a link is broken: ${JSON.stringify(first)}`)
  return link
}
