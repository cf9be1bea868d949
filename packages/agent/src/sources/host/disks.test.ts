import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestedSource, TestNode } from '../test-node.ts'
import { host } from './host.ts'
import { hostDiskType } from './type.ts'

/** A line of `diskstats` for a device with this number of reads and writes. */
const line = (device: string, count: number) => ` 259 0 ${device} ${count} 0 ${count} 0 ${count} 0 ${count} 0 0 0 0\n`

test('a disk with several paths is reported once: with its counts, or with the sum of its paths if it has none', async (t) => {
  const node = new TestNode(t)
  const tested = new TestedSource(host, node.paths, { parts: ['disks'] })
  t.after(() => tested.source.close())
  for (const [device, hidden] of Object.entries({ nvme0n1: '0', nvme0c0n1: '1', nvme0c1n1: '1', nvme1n1: '0' }))
    node.write(`sys/block/${device}/hidden`, `${hidden}\n`)
  const read = async (counts: Readonly<Record<string, number>>) => {
    node.write(
      'proc/diskstats',
      Object.entries(counts)
        .map(([device, count]) => line(device, count))
        .join(''),
    )
    const records = await tested.sampleOf(hostDiskType)
    return Object.fromEntries(records.map(({ disk, reads_total }) => [disk, Number(reads_total)]))
  }
  const old = { nvme0n1: 0, nvme0c0n1: 30, nvme0c1n1: 12, nvme1n1: 7 }
  assert.deepEqual(await read(old), { nvme0n1: 42, nvme1n1: 7 })
  assert.deepEqual(
    await read({ nvme0n1: 0, nvme0c1n1: 13 }),
    { nvme0n1: 43 },
    'a path that disappears keeps its counts',
  )
  assert.deepEqual(await read({ ...old, nvme0n1: 50 }), { nvme0n1: 50, nvme1n1: 7 })
  assert.deepEqual(await read({ nvme1n1: 8 }), { nvme1n1: 8 })
})

test('without sysfs a part of a disk that is listed too is a partition, and no other', async (t) => {
  const node = new TestNode(t)
  const tested = new TestedSource(host, node.paths, { parts: ['disks'] })
  t.after(() => tested.source.close())
  const names = ['sda', 'sda1', 'sda11', 'nvme0n1', 'nvme0n1p1', 'xvda1', 'dm-1', 'dm-10', 'md1', 'md1p1', 'md12']
  node.write('proc/diskstats', names.map((device) => line(device, 1)).join(''))
  assert.deepEqual(
    (await tested.sampleOf(hostDiskType)).map(({ disk }) => disk),
    ['sda', 'nvme0n1', 'xvda1', 'dm-1', 'dm-10', 'md1', 'md12'],
  )
})
