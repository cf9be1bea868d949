import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmdirSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { absenceType } from '@sonde/sdk/internal'
import { TestedSource, TestNode } from '../test-node.ts'
import { host } from './host.ts'
import { parseMountinfo } from './parse-mounts.ts'
import { hostFilesystemType, hostMachineType } from './type.ts'

const fixture = new URL('fixtures/guest', import.meta.url)

/** A node whose table of mounts has real folders of this machine. */
function nodeWith(t: TestContext, lines: readonly string[]) {
  const node = new TestNode(t, fixture)
  node.write('proc/1/mountinfo', `${lines.join('\n')}\n`)
  const tested = new TestedSource(host, node.paths, { parts: ['filesystems'], root_folder: '/' })
  t.after(() => tested.source.close())
  return { node, tested }
}

/** Samples until a condition holds for what was reported. */
async function sampled(tested: TestedSource, isThere: (rows: ReturnType<TestedSource['take']>) => boolean) {
  const all: ReturnType<TestedSource['take']> = []
  for (let tries = 0; tries < 1000; tries++) {
    await tested.source.sample()
    const rows = tested.take()
    all.push(...rows)
    if (isThere(rows)) return all
    await sleep(10)
  }
  throw new Error('it was not reported')
}

const recordsOf = (rows: ReturnType<TestedSource['take']>) =>
  rows.filter(({ type }) => type === hostFilesystemType).map(({ record }) => record)

test('mountinfo: a later mount hides an earlier one, bind mounts count once, and blanks are written as octal digits', () => {
  const { mounts, malformed } = parseMountinfo(
    Buffer.from(
      [
        '26 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw',
        '40 26 254:0 /var/lib/x /srv rw - ext4 /dev/vda rw',
        '41 26 0:40 / /data\\040of\\134all rw - nfs4 server:/export\\040one ro,vers=4.2',
        '42 26 0:41 / /mnt rw - tmpfs first rw',
        '43 26 0:42 / /mnt ro - tmpfs second rw',
        '44 26 0:43 /sub /home rw - btrfs /dev/vdb rw',
        '45 26 0:44 / /half rw',
      ].join('\n'),
    ),
  )
  assert.deepEqual(
    mounts.map(({ mountpoint, origin, isReadOnly }) => [mountpoint, origin, isReadOnly]),
    [
      ['/', '/dev/vda', false],
      ['/data of\\all', 'server:/export one', true],
      ['/mnt', 'second', true],
      ['/home', '/dev/vdb', false],
    ],
  )
  assert.equal(malformed, '45 26 0:44 / /half rw')
})

test('reports the space that statfs of this machine gives, leaves out folders of pods, and tells an unmount', async (t) => {
  const pods = '50 26 0:50 / /var/lib/kubelet/pods/1/volumes/token rw - tmpfs tmpfs rw'
  const lines = ['26 1 254:0 / / rw - ext4 /dev/vda rw', '29 24 0:26 / /dev/shm ro - tmpfs tmpfs rw', pods]
  const { node, tested } = nodeWith(t, lines)
  const rows = recordsOf(await sampled(tested, (found) => recordsOf(found).length === 2)).slice(-2)
  const { bsize, blocks, files } = statfsSync('/')
  const [root, shm] = rows
  assert.deepEqual(
    [root?.mountpoint, root?.size_bytes, root?.files, root?.read_only, root?.mounted],
    ['/', BigInt(blocks * bsize), BigInt(files), 0, '/dev/vda'],
  )
  assert.deepEqual([shm?.mountpoint, shm?.read_only], ['/dev/shm', 1])
  node.write('proc/1/mountinfo', `${lines[0]}\n`)
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + 6000)
  const after = await sampled(tested, (found) => found.some(({ type }) => type === absenceType))
  assert.deepEqual(TestedSource.absences(after, { mountpoint: '/dev/shm', fstype: 'tmpfs' }), [': gone'])
})

test('a name that nobody has filled in is absent, and the model of the processor stands in cpuinfo', async (t) => {
  const node = new TestNode(t, fixture)
  node.write('sys/class/dmi/id/product_name', 'To Be Filled By O.E.M.\n')
  node.write('proc/cpuinfo', 'processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor\n\nprocessor\t: 1\n')
  node.write('etc/os-release', 'NAME=Ubuntu\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n')
  const tested = new TestedSource(host, node.paths, { parts: ['machine'], root_folder: node.root })
  t.after(() => tested.source.close())
  await tested.source.sample()
  const rows = tested.take()
  assert.deepEqual(TestedSource.absences(rows, {}), ['product: unsupported'])
  const machine = rows.find(({ type }) => type === hostMachineType)?.record
  assert.deepEqual([machine?.os, machine?.cpu_model], ['Ubuntu 24.04.1 LTS', 'AMD EPYC 9654 96-Core Processor'])
})

test('a table that cannot be read makes the type absent with the reason', async (t) => {
  const { node, tested } = nodeWith(t, [])
  node.remove('proc/1/mountinfo')
  await tested.source.sample()
  const [said] = tested.take().filter(({ type }) => type === absenceType)
  assert.match(String(said?.record.reason), /1\/mountinfo is not there/)
})

test('a file system that hangs costs its own values, and nothing of its neighbour', async (t) => {
  const hung = await hungFolder(t)
  const { tested } = nodeWith(t, [
    `60 26 0:60 / ${hung} rw - fuse.gone gone rw`,
    '29 24 0:26 / /dev/shm rw - tmpfs tmpfs rw',
  ])
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await tested.source.sample()
  t.mock.timers.tick(5000)
  t.mock.timers.reset()
  const rows = await sampled(tested, (found) => recordsOf(found).length > 0)
  assert.ok(recordsOf(rows).every(({ mountpoint }) => mountpoint === '/dev/shm'))
  const absent = rows.find(({ type, record }) => type === absenceType && String(record.series).includes(hung))
  assert.match(String(absent?.record.reason), /^the file system at .* has not answered for \d+ s$/)
})

/** Mounts a file system whose server never answers, as one of a dead machine. */
async function hungFolder(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-hung-'))
  const program = `
import ctypes, os, sys, time
fd = os.open('/dev/fuse', os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f'fd={fd},rootmode=40000,user_id=0,group_id=0'.encode()
if libc.mount(b'gone', sys.argv[1].encode(), b'fuse', 0, options) != 0: sys.exit(os.strerror(ctypes.get_errno()))
print('mounted', flush=True)
time.sleep(600)
`
  const server = spawn('python3', ['-c', program, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    // The calls end when nobody can answer them any more.
    server.kill('SIGKILL')
    await once(server, 'exit')
    execFileSync('umount', ['--lazy', folder])
    rmdirSync(folder)
  })
  const [said] = await Promise.race([once(server.stdout, 'data'), once(server, 'exit')])
  assert.match(String(said), /^mounted/)
  return folder
}
