import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { absenceType } from '@sonde/sdk/internal'
import { TestedSource, TestNode } from '../test-node.ts'
import { host } from './host.ts'
import { hardwareIn, parseKernelLine } from './parse-kernel-log.ts'
import { hostKernelLogType, hostKernelMessageType } from './type.ts'

const fixture = new URL('fixtures/guest', import.meta.url)
const XID = 'NVRM: Xid (PCI:0000:9a:00): 79, pid=1234, name=python, GPU has fallen off the bus.'

/** A node whose log of the kernel is a FIFO that the test writes into. */
function nodeWith(t: TestContext) {
  const node = new TestNode(t, fixture)
  const path = join(node.root, 'kmsg')
  execFileSync('mkfifo', [path])
  const tested = new TestedSource(host, node.paths, { parts: ['kernel_log'], kernel_log: path })
  // Its own reader lets the FIFO be opened for writing before the source opens it.
  const [keeper, writer] = [fs.openSync(path, fs.constants.O_RDWR), fs.openSync(path, fs.constants.O_WRONLY)]
  t.after(async () => {
    await tested.source.close()
    for (const descriptor of [keeper, writer]) fs.closeSync(descriptor)
  })
  let sequence = 0
  const write = (words: string, { level = 6, aheadUs = 60e6 } = {}): void => {
    const timeUs = Math.round(Number(process.hrtime.bigint() / 1000n) + aheadUs)
    fs.writeSync(writer, `${level},${sequence++},${timeUs},-;${words}\n SUBSYSTEM=pci\n`)
  }
  return { tested, write }
}

/** Samples until so many messages were read, because a turn may read a part of them; messages read, and lost. */
async function readTo(tested: TestedSource, count: number): Promise<readonly number[]> {
  for (;;) {
    await tested.source.sample()
    const record = tested.take().findLast(({ type }) => type === hostKernelLogType)?.record
    if (Number(record?.messages_total) >= count) return [Number(record?.messages_total), Number(record?.lost_total)]
    await sleep(1)
  }
}

const hardware = (words: string, level = 3) => {
  const found = hardwareIn({ level, words })
  return found && [found.kind, found.code, found.device]
}

test('messages that name hardware: kind, code and device', () => {
  for (const [words, ...expected] of [
    [XID, 'xid', '79', '0000:9a:00.0'],
    ['nvidia-nvswitch3: SXid (PCI:0000:85:00.0): 12028, Non-fatal, Link 32 egress', 'sxid', '12028', '0000:85:00.0'],
    ['pcieport 0000:80:01.0: PCIe Bus Error: severity=Corrected, type=Physical', 'aer', 'corrected', '0000:80:01.0'],
    [
      'nvme 0000:81:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=x',
      'aer',
      'uncorrected fatal',
      '0000:81:00.0',
    ],
    ['mlx5_core 0000:9b:00.1 eth3: Link down', 'mlx5', 'link down', '0000:9b:00.1'],
    ['mlx5_core 0000:9b:00.1: health compromised', 'mlx5', 'error', '0000:9b:00.1'],
    ['EDAC MC0: 1 CE memory read error on CPU_SrcID#0', 'ecc', 'ce', ''],
    ['mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 5', 'mce', '', ''],
  ] as const)
    assert.deepEqual(hardware(words), expected, words)
  assert.equal(hardware('mlx5_core 0000:9b:00.1: firmware version: 28.41', 6), undefined)
  assert.equal(hardware('usb 1-1: new device'), undefined)
})

test('a line has its level without the facility, and no control character', () => {
  const line = parseKernelLine('30,5,1000,-,caller=T1;NVRM: Xid\\x1b[31m \u0007(PCI:0000:01:00): 13,\u202e x')
  assert.deepEqual(line, { level: 6, sequence: 5, timeUs: 1000, words: 'NVRM: Xid [31m (PCI:0000:01:00): 13, x' })
  for (const wrong of ['', ' SUBSYSTEM=pci', '6,1;x', 'x,1,2,-;y', `6,1,${'9'.repeat(40)},-;x`])
    assert.equal(parseKernelLine(wrong), undefined, wrong)
  assert.ok(Number(parseKernelLine(`6,1,2,-;NVRM: Xid${'x'.repeat(9000)}`)?.words.length) <= 512)
  assert.equal(parseKernelLine('6,1,2,-;audit: what no rule needs')?.words, '')
})

test('the first message is an increase, and messages from before the start do not count', async (t) => {
  const { tested, write } = nodeWith(t)
  await tested.source.sample()
  write(XID, { aheadUs: -60e6 })
  write(XID)
  write(XID)
  write('eth0: link becomes ready')
  await tested.source.sample()
  const taken = tested.take()
  const rows = taken.filter(({ type }) => type === hostKernelMessageType).map(({ record }) => record)
  assert.deepEqual(
    rows.map(({ kind, code, device, messages_total }) => [kind, code, device, messages_total]),
    [
      ['xid', '79', '0000:9a:00.0', 0n],
      ['xid', '79', '0000:9a:00.0', 2n],
    ],
  )
  assert.ok((rows[0]?.time as bigint) < (rows[1]?.time as bigint))
  assert.equal(rows[1]?.newest, XID)
  const log = taken.filter(({ type }) => type === hostKernelLogType).at(-1)?.record
  assert.equal(log?.messages_total, 3n)
})

test('a flood with codes that nobody knows keeps its series and its turn short', async (t) => {
  const { tested, write } = nodeWith(t)
  await tested.source.sample()
  for (let code = 0; code < 300; code++) {
    write(`NVRM: Xid (PCI:0000:9a:00): ${code}, x`)
    if (code % 50 === 49) await readTo(tested, code + 1)
  }
  assert.equal((await tested.sampleOf(hostKernelMessageType)).length, 256)
  assert.equal(tested.dropped.get('message_limit'), 44)
})

/**
 * The device of the kernel: a ring of messages. A read returns one message, EAGAIN where there is none, and EPIPE once
 * when messages were overwritten before they were read.
 */
function deviceWith(t: TestContext, room: number) {
  const node = new TestNode(t, fixture)
  node.write('kmsg', '')
  const path = join(node.root, 'kmsg')
  const ring: string[] = []
  let [oldest, at, descriptor, isBroken] = [0, 0, -1, false]
  const { openSync, readSync } = fs
  t.mock.method(fs, 'openSync', (...args: Parameters<typeof fs.openSync>) => {
    const opened = openSync(...args)
    // Each opening starts with the oldest message.
    if (args[0] === path) [descriptor, at] = [opened, oldest]
    return opened
  })
  t.mock.method(fs, 'readSync', (...args: Parameters<typeof fs.readSync>) => {
    if (args[0] !== descriptor) return readSync(...args)
    if (isBroken) {
      isBroken = false
      throw Object.assign(new Error('No such device'), { code: 'ENODEV' })
    }
    if (at < oldest) {
      at = oldest
      throw Object.assign(new Error('Broken pipe'), { code: 'EPIPE' })
    }
    const message = ring[at - oldest]
    if (message === undefined) throw Object.assign(new Error('Resource temporarily unavailable'), { code: 'EAGAIN' })
    at++
    return (args[1] as Buffer).write(message)
  })
  const timeUs = Number(process.hrtime.bigint() / 1000n) + 60e6
  const write = (words: string): void => {
    ring.push(`6,${oldest + ring.length},${timeUs},-;${words}\n SUBSYSTEM=pci\n`)
    if (ring.length > room) oldest += ring.splice(0, ring.length - room).length
  }
  const tested = new TestedSource(host, node.paths, { parts: ['kernel_log'], kernel_log: path })
  t.after(() => tested.source.close())
  const logged = (count: number) => readTo(tested, count)
  const breakOnce = () => {
    isBroken = true
  }
  return { tested, write, logged, breakOnce }
}

test('of a flood of 10 000 messages nothing is lost, and the message about hardware is found', async (t) => {
  const { tested, write, logged } = deviceWith(t, 20_000)
  await tested.source.sample()
  for (let index = 0; index < 10_000; index++) write(index === 7000 ? XID : `audit: \\x1b[2J message ${index} \u202e`)
  assert.deepEqual(await logged(10_000), [10_000, 0])
  const [row] = await tested.sampleOf(hostKernelMessageType)
  assert.deepEqual([row?.kind, row?.messages_total, row?.newest], ['xid', 1n, XID])
})

test('messages that the kernel overwrites are counted as lost, and those left are read', async (t) => {
  const { tested, write, logged } = deviceWith(t, 100)
  await tested.source.sample()
  for (let index = 0; index < 50; index++) write('audit: message')
  assert.deepEqual(await logged(50), [50, 0])
  for (let index = 0; index < 1000; index++) write(index === 950 ? XID : 'audit: message')
  assert.deepEqual(await logged(150), [150, 900])
  assert.equal((await tested.sampleOf(hostKernelMessageType))[0]?.messages_total, 1n)
})

test('a log that is opened again counts no message twice', async (t) => {
  const { tested, write, logged, breakOnce } = deviceWith(t, 100)
  await tested.source.sample()
  for (let index = 0; index < 10; index++) write(XID)
  await logged(10)
  breakOnce()
  write(XID)
  assert.deepEqual(await logged(11), [11, 0])
  assert.equal((await tested.sampleOf(hostKernelMessageType))[0]?.messages_total, 11n)
})

test('a log that is not there says so', async (t) => {
  const node = new TestNode(t, fixture)
  const tested = new TestedSource(host, node.paths, { parts: ['kernel_log', 'load'], kernel_log: '/nonexistent' })
  t.after(() => tested.source.close())
  await tested.source.sample()
  const reasons = tested.take().filter(({ type }) => type === absenceType)
  assert.deepEqual(
    reasons.map(({ record }) => `${record.type} ${record.code}: ${record.reason}`),
    ['host_kernel_log', 'host_kernel_message'].map(
      (type) => `${type} unsupported: /nonexistent cannot be read: ENOENT`,
    ),
  )
})

test('a log that opens and cannot be read is absent with the reason, and is not told as empty', async (t) => {
  const node = new TestNode(t, fixture)
  const tested = new TestedSource(host, node.paths, { parts: ['kernel_log'], kernel_log: node.root })
  t.after(() => tested.source.close())
  const rows: ReturnType<TestedSource['take']> = []
  for (let sweep = 0; sweep < 3; sweep++) {
    await tested.source.sample().catch(() => undefined)
    rows.push(...tested.take())
  }
  const reasons = rows.filter(({ type }) => type === absenceType).map(({ record }) => String(record.reason))
  assert.deepEqual(reasons, Array(2).fill(`${node.root} cannot be read: EISDIR`))
  assert.deepEqual(
    rows.filter(({ type }) => type === hostKernelLogType),
    [],
  )
})
