import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORMATS, PrometheusRig } from '../../../test/prometheus-rig.ts'
import { Random, SEED } from '../../../test/random.ts'
import { counter, gauge, label, timestamp } from '../../schema/field.ts'
import { defineType } from '../../schema/record-type.ts'
import { ExpositionParser } from '../../wire/prometheus/parse.ts'

const readBackType = defineType('read_back', 'What is written and read again', {
  time: timestamp(),
  name: label('Any text'),
  sent_total: counter('u64', { help: 'With a backslash \\ in it' }),
  level: gauge('f64', { help: 'Any number' }),
})
const TEXTS = ['plain', 'q"uote', 'back\\slash', 'new\nline', 'brace}', 'ünïcode 🚀', ',=', ' ', '\\', '\\n']
const LEVELS = [0, -0, 1.5, -2e-300, 1e300, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.1 + 0.2]

test('what the view writes is what the parser reads, to the last digit, scrape after scrape', async () => {
  const random = new Random(SEED)
  for (const format of FORMATS) {
    const rig = new PrometheusRig()
    const source = rig.source()
    const parser = new ExpositionParser()
    for (let scrape = 0; scrape < 5; scrape++) {
      const records = TEXTS.slice(0, 6 + scrape).map((name) => ({
        time: BigInt(rig.nowMs) * 1_000_000n,
        name,
        sent_total: random.chance(0.5) ? random.bits64() : BigInt(random.integer(0, 99)),
        level: random.pick(LEVELS),
      }))
      rig.report(source, readBackType, ...records)
      parser.parse(await rig.bytes(format), format)
      assert.equal(parser.faults.total, 0, JSON.stringify(parser.faults.lines))
      const read = new Map<string, bigint | number | undefined>()
      for (let i = 0; i < parser.count; i++) {
        const { name, labels } = parser.seriesAt(i)
        const value = name === 'read_back_level' ? parser.values[i] : parser.integer(i)
        read.set(`${name} ${labels.name}`, value)
      }
      for (const { name, sent_total: sent, level } of records) {
        assert.equal(read.get(`read_back_sent_total ${name}`), sent)
        assert.ok(Object.is(read.get(`read_back_level ${name}`), level), `${level} of ${JSON.stringify(name)}`)
      }
      assert.equal(parser.families.get('read_back_level')?.type, 'gauge')
    }
  }
})
