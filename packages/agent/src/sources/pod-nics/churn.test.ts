import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRecords, viewsOf } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { SourceOutlet } from '../../hosting/source-outlet.ts'
import { TestNode } from '../test-node.ts'
import { PodNicsSource } from './source.ts'

/** Readings of a month with another pod every four hours. */
const READINGS = 30 * 6
const PID = 100

test('a month of pods that come and go leaves every table of their interfaces flat', async (t) => {
  const node = new TestNode(t)
  let gone = 0
  const outlet = new SourceOutlet({
    ...{ name: 'pod_nics', intervalMs: 1000, paths: node.paths },
    stats: { failed: { add: () => undefined }, dropped: new Map() },
    emit: ({ type, bytes, count, symbols }) => {
      if (type !== absenceType) return
      for (const { code } of readRecords(absenceType, viewsOf(bytes), count, symbols)) if (code === 'gone') gone++
    },
  })
  const place = { pci_address: '0000:3b:00.2', physical_function: '', host_interface: '', no_counters: '' }
  const nic = { name: 'eth0', driver: 'mlx5_core', rdma_device: 'mlx5_2', own: 1, ...place } as const
  const options = { log_folder: `${node.root}/log`, max_namespaces: 1024 }
  const source = new PodNicsSource(options, outlet.context, async () => [nic])
  node.link('proc/self/ns/net', 'net:[1]')
  for (let hour = 0; hour < READINGS; hour++) {
    const uid = `00000000-0000-0000-0000-${String(hour).padStart(12, '0')}`
    node.remove(`proc/${PID + hour - 1}`)
    node.write(`proc/${PID + hour}/stat`, `${PID + hour} (pause) S ${'0 '.repeat(18)}${hour} 0\n`)
    node.write(`proc/${PID + hour}/cgroup`, `0::/kubepods/pod${uid}/${'a'.repeat(64)}\n`)
    node.write(`proc/${PID + hour}/net/dev`, 'Inter-|\n face |\n  eth0: 0\n    lo: 0\n')
    node.link(`proc/${PID + hour}/ns/net`, `net:[${1000 + hour}]`)
    for (const duty of source.duties()) await duty.run()
    outlet.source.flush()
    assert.deepEqual(source.counts, { namespaces: 1, rows: 1 }, `at reading ${hour}`)
  }
  assert.equal(gone, READINGS - 1)
  source.close()
})
