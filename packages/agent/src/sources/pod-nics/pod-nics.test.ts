import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { after, test } from 'node:test'
import { absenceType } from '@sonde/sdk/internal'
import { needs, programPath } from '../../../../../test/debian.ts'
import { RuncContainer } from '../../../../../test/runc.ts'
import { testSource } from '../conformance.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { hostFunction } from './functions.ts'
import { podNics } from './pod-nics.ts'
import { podNicType } from './type.ts'

const NEEDS = needs('cc', 'runc', 'ip')

/** Runs `ip` of Debian. */
function ip(...args: string[]): void {
  execFileSync(programPath('ip') ?? 'ip', args, { stdio: 'ignore' })
}

/** A container of a pod, whose interface ends at the host; or why there is none. */
function startPod(
  t: { after: typeof after },
  uid: string,
): { readonly container: RuncContainer; readonly host: string } | string {
  const container = RuncContainer.start(t, `/kubepods/pod${uid}`)
  if (typeof container === 'string') return `runc refuses to run here (${container})`
  const host = `sv${container.pid}`
  ip('link', 'add', host, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(container.pid))
  t.after(() => {
    try {
      ip('link', 'delete', host)
    } catch {
      // The pair left with the namespace of the container.
    }
  })
  return { container, host }
}

// No tree of files has namespaces, so the suite reads those of this machine.
const suite = NEEDS.skip === false ? startPod({ after }, randomUUID()) : NEEDS.skip
const isMissing = typeof suite === 'string' ? suite : false
testSource(podNics, { skip: isMissing, paths: { procfs: '/proc', sysfs: '/sys' } })

test('real network namespaces: a veth pair leads from the pod to its end on the host', NEEDS, async (t) => {
  const uid = randomUUID()
  const pod = startPod(t, uid)
  if (typeof pod === 'string') return t.skip(pod)
  const { container, host } = pod
  const logs = new TestNode(t)
  logs.write(`containers/trainer-0_ml_main-${container.id}.log`, '')
  const tested = new TestedSource(podNics, { procfs: '/proc', sysfs: '/sys' }, { log_folder: logs.root })
  t.after(() => tested.source.close())
  const own = readlinkSync('/proc/self/ns/net')
  const rows = async () => {
    await tested.source.sample()
    const taken = tested.take()
    const nics = taken.filter(({ type, record }) => type === podNicType && record.pod === 'trainer-0')
    const gone = taken.filter(({ type, record }) => type === absenceType && record.code === 'gone')
    return { nics: nics.map(({ record }) => record), gone: gone.map(({ record }) => String(record.series)) }
  }
  const { nics } = await rows()
  assert.deepEqual(
    nics.map(({ namespace, interface: name, driver, pci_address, host_interface, own, via }) => [
      ...[namespace, name, driver, pci_address, host_interface, own, via],
    ]),
    [['ml', 'eth0', 'veth', '', host, 0, 'network namespace']],
  )
  assert.equal(readlinkSync('/proc/self/ns/net'), own, 'the source returns to its own namespace')
  assert.ok(readFileSync('/proc/thread-self/net/dev', 'utf8').includes(host))
  assert.equal((await rows()).nics[0]?.host_interface, host, 'and reads it again')
  ip('link', 'delete', host)
  const after = await rows()
  assert.deepEqual(after.nics, [])
  assert.ok(after.gone.some((series) => series.includes('interface="eth0"') && series.includes('pod="trainer-0"')))
})

test('a virtual function leads to its RDMA device, its adapter and its representor', async (t) => {
  // As mlx5 in switchdev mode has it: the representors are interfaces of the adapter.
  const node = new TestNode(t)
  const [adapter, vf] = ['0000:3b:00.0', '0000:3b:00.3']
  node.link(`sys/bus/pci/devices/${vf}/physfn`, `../${adapter}`)
  node.write(`sys/bus/pci/devices/${vf}/infiniband/mlx5_5/node_type`, '1: CA\n')
  node.link(`sys/bus/pci/devices/${adapter}/virtfn0`, '../0000:3b:00.2')
  node.link(`sys/bus/pci/devices/${adapter}/virtfn1`, `../${vf}`)
  for (const [name, port] of Object.entries({ ens1f0np0: 'p0', ens1f0r0: 'pf0vf0', ens1f0r1: 'pf0vf1' }))
    node.write(`sys/bus/pci/devices/${adapter}/net/${name}/phys_port_name`, `${port}\n`)
  const { sysfs } = node.paths
  assert.deepEqual(await hostFunction(sysfs, vf), {
    rdmaDevice: 'mlx5_5',
    physicalFunction: adapter,
    representor: 'ens1f0r1',
    ...{ virtualFunctions: 0, driver: '' },
  })
  // The RDMA device belongs to the namespace of the pod: the host sees only the adapter.
  node.remove(`sys/bus/pci/devices/${vf}/infiniband/mlx5_5`)
  node.remove(`sys/bus/pci/devices/${vf}/infiniband`)
  assert.equal((await hostFunction(sysfs, vf)).rdmaDevice, '')
  const own = { rdmaDevice: '', physicalFunction: '', representor: '', virtualFunctions: 2, driver: '' }
  assert.deepEqual(await hostFunction(sysfs, adapter), own)
})
