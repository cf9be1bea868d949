import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type RecordType, wallNs } from '@sonde/sdk'
import { SourceOutlet } from '../../hosting/source-outlet.ts'
import { TestNode } from '../test-node.ts'
import { JobFiles } from './job-files.ts'
import { PodNames } from './pod-names.ts'
import { ProcFiles } from './proc-files.ts'
import { ProcessOwners } from './process-owners.ts'
import { ProcessRows } from './process-rows.ts'
import { jobWorkload, VIA } from './workload.ts'

/** Readings of a month with another pod every four hours, and new processes in each of them. */
const READINGS = 30 * 6
const PIDS = 5

function outletOf(t: TestContext, node: TestNode) {
  let records = 0
  const outlet = new SourceOutlet({
    ...{
      name: 'nvml',
      intervalMs: 1000,
      paths: node.paths,
      stats: { failed: { add: () => undefined }, dropped: new Map() },
    },
    emit: ({ type, count }: { readonly type: RecordType; readonly count: number }) => {
      if (type.name === 'pod_share') records += count
    },
  })
  t.after(() => outlet.source.flush())
  return { outlet, shares: () => records }
}

test('a month of pods that come and go leaves every table flat', async (t) => {
  const node = new TestNode(t)
  let nowMs = 0
  const names = new PodNames(`${node.root}/log`, () => nowMs)
  const owners = new ProcessOwners(new ProcFiles(node.paths.procfs), names)
  const { outlet, shares } = outletOf(t, node)
  const rows = new ProcessRows(outlet.context, 'GPU-1')
  const jobs = new JobFiles(`${node.root}/jobs`)
  for (let hour = 0; hour < READINGS; hour++) {
    nowMs += 4 * 3_600_000
    const uid = `00000000-0000-0000-0000-${String(hour).padStart(12, '0')}`
    node.remove(`log/pods/ml_job-${hour - 1}_00000000-0000-0000-0000-${String(hour - 1).padStart(12, '0')}`)
    node.write(`log/pods/ml_job-${hour}_${uid}/main`, '')
    // Pids are used again, as on a node with pid_max at its default.
    const pids = Array.from({ length: PIDS }, (_, at) => 100 + ((hour * PIDS + at) % 7))
    for (const [at, pid] of pids.entries()) {
      node.write(`proc/${pid}/stat`, `${pid} (python3) S ${'0 '.repeat(18)}${hour * 100 + at} 0\n`)
      node.write(`proc/${pid}/cgroup`, `0::/kubepods/pod${uid}/${'a'.repeat(64)}\n`)
    }
    const owned = await owners.find(pids, undefined)
    const usages = [...owned].map(([pid, process]) => ({ pid, ...process, instance: '', memoryBytes: 1, util: 0.5 }))
    assert.deepEqual([...new Set(usages.map(({ workload }) => workload?.pod))], [`job-${hour}`])
    // The batch system writes the job of the day into the file of the GPU, and leaves files of others behind.
    node.write(`jobs/${hour % 8}`, `${4000 + hour}\n`)
    const mapped = await jobs.jobsOf(hour % 8)
    const held = mapped.map(({ job, instance }) => ({ workload: jobWorkload(job, VIA.jobFiles), instance }))
    rows.report(usages, held, wallNs())
    outlet.source.flush()
  }
  assert.equal(shares(), READINGS, 'one share for each pod and reading')
  assert.equal(owners.count, PIDS)
  // A device, a share and an identity for the pod, a device and an identity for the job, and a row for each process.
  assert.equal(rows.count, 5 + PIDS)
  assert.equal(names.count, 1)
  rows.leave('the end')
  assert.equal(rows.count, 0)
})
