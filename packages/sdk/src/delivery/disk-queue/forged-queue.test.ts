import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { retry } from '../../../test/delivery-rig.ts'
import { type DurableRig, durableRig } from '../../../test/durable-rig.ts'
import { type Ending, temporaryFolder } from '../../../test/files-rig.ts'
import { until } from '../../../test/helper.ts'
import { Random, SEED } from '../../../test/random.ts'
import { settled } from '../../../test/tested-sink.ts'
import { droppedTotal } from '../../internal/index.ts'

/** Records of the queue, in batches; they fill three files. */
const RECORDS = 20_000
const BATCH = 500
/** Files of 64 KiB. */
const LIMIT = { queueLimitBytes: 1 << 20 }

/** A folder of records, how the next process adds a record to it, and the damages to try. */
interface Forged {
  readonly rounds: number
  leave(t: Ending): Promise<string>
  /** Adds the record with the serial number {@link RECORDS}, and opens the folder as a queue. */
  open(t: Ending, queueDir: string): Promise<DurableRig>
}

const FORGED: Readonly<Record<string, Forged>> = {
  'a queue': {
    rounds: 60,
    leave: leaveQueue,
    async open(t, queueDir) {
      const rig = durableRig(t, { queueDir, serial: RECORDS, ...LIMIT })
      rig.accept(1)
      return rig
    },
  },
  'a folder of dead letters': {
    rounds: 30,
    leave: leaveLetters,
    async open(t, queueDir) {
      const refusing = durableRig(t, { queueDir: temporaryFolder(t), serial: RECORDS, ...lettersIn(queueDir) })
      refusing.answer = () => ({ outcome: 'reject', reason: 'no' })
      refusing.accept(1)
      await settled(refusing.sink.flush())
      await until('it is refused', () => refusing.sink.queuedRecords === 0)
      await refusing.sink.close()
      return durableRig(t, { queueDir, ...LIMIT })
    },
  },
}

for (const [what, { rounds, leave, open }] of Object.entries(FORGED))
  test(`${what} with random damage opens, sends each readable record once and unchanged, and its ledger holds`, async (t) => {
    const random = new Random(SEED)
    const template = await leave(t)
    assert.ok(readdirSync(template).filter((name) => name.endsWith('.bin')).length >= 3)
    for (let round = 0; round < rounds; round++) {
      const queueDir = temporaryFolder(t)
      cpSync(template, queueDir, { recursive: true })
      const damage = damageOf(queueDir, random)
      const rig = await open(t, queueDir)
      const words = `round ${round}: ${damage}`
      // It rejects where records were lost.
      await settled(rig.sink.flush())
      await until(`the queue is empty, ${words}`, () => rig.sink.stats.in > 0 && rig.sink.queuedRecords === 0)
      await rig.sink.close()
      const { stats } = rig.sink
      assert.equal(stats.in, stats.out + droppedTotal(stats), words)
      assert.equal(rig.taken.at(-1), RECORDS, words)
      // The names of files say which records they have, and a forged name cannot be told from a true name.
      const isRenamed = damage.includes('renamed')
      const sent = isRenamed ? rig.taken.toSorted((a, b) => a - b) : rig.taken
      for (const [index, serial] of sent.entries())
        assert.ok(serial <= RECORDS && serial > (sent[index - 1] ?? -1), `${words}: ${serial} at ${index}`)
      // Each loss has a count or a message.
      if (stats.out !== RECORDS + 1 && !isRenamed) assert.ok(stats.errors > 0 || stats.dropped.size > 0, words)
    }
  })

/** A queue of an earlier process whose receiver was away. */
async function leaveQueue(t: Ending): Promise<string> {
  const queueDir = temporaryFolder(t)
  const rig = durableRig(t, { queueDir, ...LIMIT, closeTimeoutMs: 20 })
  rig.answer = () => retry('away')
  await fill(rig)
  await rig.sink.close()
  assert.equal(rig.sink.queuedRecords, RECORDS)
  return queueDir
}

/** The dead letters of an earlier process whose receiver refused everything. */
async function leaveLetters(t: Ending): Promise<string> {
  const deadLetters = temporaryFolder(t)
  const rig = durableRig(t, { queueDir: temporaryFolder(t), batchRecordsMax: BATCH, ...lettersIn(deadLetters) })
  rig.answer = () => ({ outcome: 'reject', reason: 'no' })
  await fill(rig)
  await until('all is refused', () => rig.sink.queuedRecords === 0)
  await rig.sink.close()
  assert.deepEqual(rig.dropped, { rejected: RECORDS })
  return deadLetters
}

function lettersIn(deadLetters: string) {
  return { deadLetters, deadLettersLimitBytes: LIMIT.queueLimitBytes }
}

async function fill(rig: DurableRig): Promise<void> {
  for (let n = 0; n < RECORDS; n += BATCH) rig.accept(BATCH)
  await rig.sink.flush()
}

/** Damages a file of a queue, and returns how. */
function damageOf(folder: string, random: Random): string {
  const names = readdirSync(folder).filter((name) => name !== '.lock')
  const name = names[random.integer(0, names.length - 1)] ?? ''
  const path = join(folder, name)
  const bytes = readFileSync(path)
  const at = random.integer(0, Math.max(0, bytes.length - 1))
  const count = random.integer(1, 64)
  const junk = Buffer.from(Array.from({ length: count }, () => random.integer(0, 255)))
  const kind = random.integer(0, 7)
  switch (kind) {
    case 0:
      bytes.set(junk.subarray(0, bytes.length - at), at)
      writeFileSync(path, bytes)
      return `${name}: ${count} random bytes at ${at}`
    case 1:
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.integer(0, 7)), at)
      writeFileSync(path, bytes)
      return `${name}: a flipped bit at ${at}`
    case 2:
      writeFileSync(path, bytes.subarray(0, at))
      return `${name}: cut at ${at}`
    case 3:
      writeFileSync(path, Buffer.concat([bytes.subarray(0, at), junk, bytes.subarray(at)]))
      return `${name}: ${count} bytes inserted at ${at}`
    case 4:
      writeFileSync(path, Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + count)]))
      return `${name}: ${count} bytes removed at ${at}`
    case 5: {
      // A header that begins with bytes of the format: lengths and counts are forged.
      const block = bytes.indexOf('DTBK', at)
      const place = (block < 0 ? 0 : block) + 4 * random.integer(1, 12)
      bytes.set(Buffer.of(0xff, 0xff, 0xff, 0x7f).subarray(0, Math.max(0, bytes.length - place)), place)
      writeFileSync(path, bytes)
      return `${name}: a forged number at ${place}`
    }
    case 6: {
      const forged = `${String(random.integer(0, 40_000)).padStart(16, '0')}.bin`
      renameSync(path, join(folder, forged))
      return `${name} renamed to ${forged}`
    }
    default:
      writeFileSync(path, junk)
      return `${name}: only ${count} random bytes`
  }
}
