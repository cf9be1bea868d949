import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { counter, defineType, gauge, label, labelNumber, lossType, type RecordType, text, timestamp } from '@sonde/sdk'
import {
  absenceType,
  clockType,
  definitionOf,
  encodeFrame,
  markType,
  periodType,
  SOCKET_NAME,
} from '@sonde/sdk/internal'
import { RawClient } from '../../../packages/agent/test/raw-client.ts'
import { anyType } from '../../../packages/sdk/test/any-type.ts'
import { until } from '../../sonde-process.ts'
import { numberedType } from '../numbered.ts'
import { type Attack, Attacker, EDGES, enter, lie, type Scene, TEXTS } from './attacker.ts'

const heat = defineType('hostile_heat', 'Heat', {
  time: timestamp(),
  place: labelNumber('u32'),
  celsius: gauge('f64'),
  turns_total: counter('u64'),
})

/** Records that say that hardware, or anything else, is there, and name whatever sits at some addresses. */
const claiming = ['gpu', 'netdev', 'sim', 'belt', 'job'].map((kind) =>
  defineType(
    `hostile_${kind}`,
    'What somebody claims',
    { time: timestamp(), place: labelNumber('u32'), ports: text(), peers: text(), celsius: gauge('f64') },
    {
      entity: {
        kind,
        key: ['place'],
        defines: true,
        facts: ['celsius'],
        joins: [
          { by: 'pci', field: 'ports', isList: true },
          { by: 'netdev', field: 'peers', isList: true },
        ],
        relations: [{ kind: 'belt', key: ['peers'], isList: true }],
      },
    },
  ),
)

/** An attacker that has announced a type, a source and some texts. */
async function ready(
  scene: Scene,
  type: RecordType = heat,
  source: { id?: string; tag?: string } = {},
): Promise<Attacker> {
  const attacker = await Attacker.enter(scene)
  attacker.type(type)
  attacker.source(0, source)
  attacker.symbols(TEXTS)
  return attacker
}

/** Where a field of a type is. */
function slotOf({ layout }: RecordType, field: string): number {
  const slot = layout.slots.find(({ name }) => name === field)
  assert.ok(slot)
  return slot.offset
}

/** Records of the reporter's type, marked as none of its own. */
function posing(bytes: Buffer): Buffer {
  const { recordBytes } = numberedType.layout
  const offset = slotOf(numberedType, 'check')
  for (let at = 0; at < bytes.length; at += recordBytes) bytes.writeBigUInt64LE(0n, at + offset)
  return bytes
}

/** What a client of the service can do, by name. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  /** Sequences at the edges, in any order. */
  async sequences(scene) {
    for (let i = 0; i < 4; i++) {
      const attacker = await ready(scene)
      attacker.page(heat, 1)
      for (let n = 0; n < 4; n++)
        attacker.page(heat, 1, {
          sequence: (scene.random.pick(EDGES) + BigInt(scene.random.integer(0, 1))) & (2n ** 64n - 1n),
        })
      await attacker.leave()
    }
  },
  /** Leaps that are allowed, as many as there can be. */
  async leaps(scene) {
    const attacker = await ready(scene)
    for (let n = 1n; n < 2n ** 53n && !attacker.raw.isClosed; n += 2n ** 44n) attacker.page(heat, 1, { sequence: n })
    for (let n = 0n; n < 1000n; n++) attacker.page(heat, 1, { sequence: 2n ** 50n + n * 2n ** 40n })
    await attacker.leave()
  },
  /** Pages of which the header lies. */
  async lies(scene) {
    const attacker = await ready(scene)
    for (let n = 1; n < 50; n++) {
      const bytes = attacker.bytesOf(heat, scene.random.integer(1, 3))
      attacker.raw.page(n, Math.max(1, bytes.length / heat.layout.recordBytes), bytes, lie(scene.random, bytes))
    }
    await attacker.leave()
  },
  /** Types of anything, with records of anything. */
  async types(scene) {
    const attacker = await Attacker.enter(scene)
    attacker.source()
    attacker.symbols(TEXTS)
    for (let index = 0; index < 30; index++) {
      const type = anyType(scene.random)
      attacker.type(type, index)
      attacker.page(type, scene.random.integer(1, 20), { index })
    }
    await attacker.leave()
  },
  /** All the types that one connection may have, new ones each time. */
  async manyTypes(scene) {
    const attackers = await Promise.all(Array.from({ length: 4 }, () => Attacker.enter(scene)))
    for (const { raw } of attackers) {
      const body = Array.from({ length: 256 }, (_, index) => {
        const type = defineType(`hostile_${scene.random.integer(0, 2 ** 31)}_${index}`, '', { value: gauge('u64') })
        return { index, fingerprint: type.fingerprint, definition: definitionOf(type) }
      })
      raw.send({ kind: 'types', body })
    }
    for (const attacker of attackers) await attacker.leave()
  },
  /** The name, the source and the series of the honest client, of the same type and of another. */
  async twins(scene) {
    const attacker = await ready(scene, numberedType, { id: 'fault', tag: 'loop' })
    attacker.symbols(['w0', 'w1', 'w2'], TEXTS.length)
    for (let n = 0; n < 20; n++) attacker.page(numberedType, 50, { bytes: posing(attacker.bytesOf(numberedType, 50)) })
    const other = defineType('numbered', 'Another', {
      time: timestamp(),
      worker: label(),
      number_total: gauge('f64', { unit: 'celsius' }),
    })
    attacker.type(other, 1)
    for (let n = 0; n < 20; n++) attacker.page(other, 50, { index: 1 })
    await attacker.leave()
  },
  /** Sonde's own types: absences, losses and marks of anything. */
  async ownTypes(scene) {
    for (const type of [absenceType, lossType, markType]) {
      const attacker = await ready(scene, type)
      attacker.symbols(['numbered', 'number_total', 'worker="w0"', 'gone'], TEXTS.length)
      for (let n = 0; n < 10; n++) attacker.page(type, 30)
      await attacker.leave()
    }
  },
  /** Periods of any length, of thousands of types and devices, of the honest client's too, which the type names. */
  async periods(scene) {
    const attacker = await ready(scene, numberedType, { id: 'fault', tag: 'loop' })
    attacker.type(periodType, 1)
    attacker.symbols(['numbered', 'w0', 'w1', 'w2'], TEXTS.length)
    const devices = Array.from({ length: 5000 }, (_, i) => `device${i}`)
    for (let at = 0; at < devices.length; at += 1000)
      attacker.symbols(devices.slice(at, at + 1000), TEXTS.length + 4 + at)
    const report = slotOf(periodType, 'report_us')
    for (let n = 0; n < 8; n++) {
      const count = 2000
      const bytes = attacker.bytesOf(periodType, count)
      const longest = scene.random.pick([0n, 1n, 86_400_000_000n, ...EDGES])
      for (let at = 0, i = 0; i < count; i++, at += periodType.layout.recordBytes) {
        for (const { name, offset } of periodType.labels) {
          const first = name === 'type' ? [0, TEXTS.length] : [0, TEXTS.length + 4 + scene.random.integer(0, 4999)]
          bytes.writeUInt32LE(scene.random.pick(first), at + offset)
        }
        bytes.writeBigUInt64LE(longest, at + report)
      }
      attacker.page(periodType, count, { bytes, index: 1 })
      attacker.page(numberedType, 50, { bytes: posing(attacker.bytesOf(numberedType, 50)) })
    }
    await attacker.leave()
  },
  /** Clocks of thousands of devices, at every edge. */
  async clocks(scene) {
    const attacker = await ready(scene, clockType)
    const devices = Array.from({ length: 5000 }, (_, i) => `device${i}`)
    for (let at = 0; at < devices.length; at += 1000) attacker.symbols(devices.slice(at, at + 1000), TEXTS.length + at)
    for (let n = 0; n < 5; n++) {
      const count = 1000
      const bytes = attacker.bytesOf(clockType, count)
      for (let i = 0; i < count; i++)
        for (const { offset } of clockType.labels)
          bytes.writeUInt32LE(TEXTS.length + n * count + i, i * clockType.layout.recordBytes + offset)
      attacker.page(clockType, count, { bytes })
    }
    await attacker.leave()
  },
  /** As many series as a page holds. */
  async series(scene) {
    const attacker = await ready(scene)
    const count = 10_000
    const bytes = attacker.bytesOf(heat, count)
    const offset = heat.labels[0]?.offset ?? 0
    const step = scene.random.pick([1, 1 << 16, 0x9e37_79b1])
    for (let i = 0; i < count; i++) bytes.writeUInt32LE(Math.imul(i, step) >>> 0, i * heat.layout.recordBytes + offset)
    for (let n = 0; n < 3; n++) attacker.page(heat, count, { bytes })
    await attacker.leave()
  },
  /** New series whose labels are as long as they may be, and longer. */
  async wideSeries(scene) {
    const [fields, characters] = scene.random.pick([
      [2, 4000],
      [8, 1000],
      [64, 120],
      [255, 4096],
    ])
    const labels = Object.fromEntries(Array.from({ length: fields }, (_, i) => [`l${i}`, label()]))
    const wide = defineType('hostile_wide', 'Wide', { time: timestamp(), ...labels, turns_total: counter('u64') })
    const attacker = await ready(scene, wide)
    const texts = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(characters, scene.random.pick(['x', '"', '\\'])))
    attacker.symbols(texts, TEXTS.length)
    for (let n = 0; n < 4; n++) {
      const count = 200
      const bytes = attacker.bytesOf(wide, count)
      for (let i = 0; i < count; i++) {
        for (const { offset } of wide.labels) {
          bytes.writeUInt32LE(TEXTS.length + scene.random.integer(0, 49), i * wide.layout.recordBytes + offset)
        }
      }
      attacker.page(wide, count, { bytes })
    }
    await attacker.leave()
  },
  /** All the series of a type that a client can have, which it leaves at once, again and again. */
  async comesAndGoes(scene) {
    for (let visit = 0; visit < 3; visit++) {
      const attacker = await ready(scene)
      const count = 10_000
      const offset = heat.labels[0]?.offset ?? 0
      for (let n = 0; n < 4; n++) {
        const bytes = attacker.bytesOf(heat, count)
        for (let i = 0; i < count; i++) bytes.writeUInt32LE(n * count + i, i * heat.layout.recordBytes + offset)
        attacker.page(heat, count, { bytes })
      }
      await attacker.leave()
    }
  },
  /** Ten thousand pages of a record. */
  async flood(scene) {
    const attacker = await ready(scene)
    for (let n = 0; n < 10_000 && !attacker.raw.isClosed; n++) attacker.page(heat, 1)
    await attacker.leave()
  },
  /** The largest pages, and frames that are as long as they may be and longer. */
  async sizes(scene) {
    const attacker = await ready(scene)
    const most = Math.floor(2 ** 20 / heat.layout.recordBytes)
    for (const count of [most, 1, most + 1]) attacker.page(heat, count)
    await attacker.leave()
  },
  /** Ten thousand sources, then texts, to the limits and beyond. */
  async sources(scene) {
    const attacker = await Attacker.enter(scene)
    for (let index = 0; index < 10_000 && !attacker.raw.isClosed; index++) {
      attacker.source(index, {
        id: `hostile${index % 3}`,
        tag: scene.random.pick(['', 'a', 'x'.repeat(200)]),
        labels: { n: `${index}` },
      })
    }
    await attacker.leave()
  },
  /** Series whose labels shared a place of every table, when the hash had no seed. */
  async collisions(scene) {
    const attacker = await ready(scene)
    const bytes = attacker.bytesOf(heat, 30_000)
    const offset = slotOf(heat, 'place')
    for (let i = 0; i < 30_000; i++) {
      const hash = (i << 16) | 0x1234
      const place = Math.imul(hash ^ (hash >>> 15) ^ (hash >>> 30), 0xe8b2f51)
      bytes.writeInt32LE(place, i * heat.layout.recordBytes + offset)
    }
    attacker.page(heat, 30_000, { bytes })
    await attacker.leave()
  },
  /** Entities without end, of kinds that are not theirs too, each time at other places. */
  async claims(scene) {
    const attacker = await ready(scene, scene.random.pick(claiming))
    attacker.symbols([Array(2000).fill('lo').join(' '), '0000:9a:00.0 '.repeat(300)], TEXTS.length)
    for (let n = 0; n < 10; n++) attacker.page(scene.random.pick(claiming), 1000)
    await attacker.leave()
  },
  async texts(scene) {
    const attacker = await ready(scene)
    const text = scene.random.pick(TEXTS)
    const texts = Array<string>(scene.random.pick([200, 10_000])).fill(text.slice(0, 100))
    for (let n = 0; n < 10; n++) attacker.symbols(texts, TEXTS.length + n * texts.length)
    attacker.page(heat, 100)
    await attacker.leave()
  },
  /** Names, labels and definitions that mean something to somebody. */
  async names(scene) {
    for (const text of TEXTS) {
      const attacker = await Attacker.enter(scene)
      const { fingerprint } = heat
      const definition = JSON.parse(
        JSON.stringify(definitionOf(heat)).replaceAll(
          scene.random.pick(['place', 'hostile_heat', 'celsius', 'u64']),
          JSON.stringify(text).slice(1, -1),
        ),
      )
      if (scene.random.chance(0.5)) attacker.raw.send({ kind: 'types', body: [{ index: 0, fingerprint, definition }] })
      else
        attacker.source(
          0,
          scene.random.pick([{ id: text }, { tag: text }, { labels: { [text]: 'x' } }, { labels: { x: text } }]),
        )
      await attacker.leave()
    }
  },
  /** Comes and goes, at any point of a greeting. */
  async reconnects(scene) {
    for (let n = 0; n < 30; n++) {
      const raw = await RawClient.open(scene.socketsDir)
      const isGreeting = scene.random.chance(0.7)
      if (isGreeting) raw.hello()
      if (isGreeting && scene.random.chance(0.3))
        await until('an answer', 10_000, () => raw.isClosed || raw.frames.length > 0)
      raw.close()
    }
    const first = await Attacker.enter(scene)
    for (let n = 0; n < 10; n++) (await enter(scene.socketsDir, await first.raw.identity)).close()
    await first.leave()
  },
  /** Connections that say nothing, or half a frame. */
  async silence(scene) {
    const sockets = Array.from({ length: 100 }, () => connect(join(scene.socketsDir, SOCKET_NAME)))
    const frame = encodeFrame(
      { kind: 'hello', body: { protocol: 3, client: 0n, secret: '', heard: 0n, pid: 1, program: '', version: '' } },
      1,
    )
    for (const socket of sockets) {
      socket.on('error', () => undefined)
      socket.write(frame.subarray(0, scene.random.integer(0, frame.length - 1)))
    }
    const last = await enter(scene.socketsDir)
    last.close()
    for (const socket of sockets) socket.destroy()
  },
  /** Asks for what is refused, again and again, reads no answer, and is back before that. */
  async deafness(scene) {
    const deaf: RawClient[] = []
    for (let n = 0; n < 10; n++) {
      const raw = await enter(scene.socketsDir, await deaf.at(-1)?.identity)
      raw.socket.pause()
      const ask = { kind: 'attach', body: { file: '/dev/shm/none', slots: 1, slotBytes: 4096 } } as const
      for (let times = scene.random.pick([1, 1000, 5000]); times > 0; times--) raw.send(ask)
      deaf.push(raw)
    }
    for (const raw of deaf) raw.close()
  },
  /** Ids of others, and secrets that are none. */
  async identities(scene) {
    const own = await Attacker.enter(scene)
    const { secret } = await own.raw.identity
    for (const client of [...scene.clients, ...EDGES.slice(1)]) {
      const raw = await RawClient.open(scene.socketsDir)
      raw.hello({ client, secret: scene.random.pick([secret, '0'.repeat(64), 'f'.repeat(64)]) })
      await raw.refused()
    }
    await own.leave()
  },
  /** Files of others, and proofs that are none. */
  async files(scene) {
    const attacker = await ready(scene)
    const names = readdirSync('/dev/shm').filter((name) => name.startsWith('sonde-'))
    const paths = [
      ...names.map((name) => `/dev/shm/${name}`),
      '/etc/passwd',
      '/dev/shm/sonde-../x',
      join(scene.dir, 'service.key'),
      join(scene.socketsDir, SOCKET_NAME),
    ]
    for (const file of paths) {
      const { raw } = attacker
      raw.frames.length = 0
      raw.send({ kind: 'attach', body: { file, slots: 1, slotBytes: scene.random.pick([1, 32, 4096, 2 ** 20]) } })
      const answer = await until(`an answer on ${file}`, 10_000, () => raw.frames.at(-1)?.kind)
      if (answer === 'challenge') raw.send({ kind: 'proof', body: {} })
      assert.equal((await raw.heard('attached')).ok, false, file)
    }
    attacker.raw.send({ kind: 'proof', body: {} })
    await attacker.leave()
  },
  /** Never reads its answers. */
  async deaf(scene) {
    const attacker = await ready(scene)
    attacker.raw.socket.pause()
    for (let n = 0; n < 3000; n++) attacker.page(heat, 1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    attacker.raw.close()
  },
  /** Frames in an order that nobody sends. */
  async disorder(scene) {
    const attacker = await ready(scene)
    const acts = [
      () => attacker.raw.hello(),
      () => attacker.raw.send({ kind: 'bye', body: {} }),
      () => attacker.raw.send({ kind: 'proof', body: {} }),
      () => attacker.type(heat, scene.random.integer(0, 65_535)),
      () => attacker.page(heat, 1, { index: 7 }),
      () => attacker.symbols(['x'], Number(scene.random.pick(EDGES) & 0xffff_ffffn)),
    ]
    for (let n = 0; n < 5; n++) scene.random.pick(acts)()
    await attacker.leave()
  },
}
