import { testSink } from '../../../test/test-sink.ts'
import { createPrometheus } from './prometheus.ts'

const ESCAPED: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' }

testSink('prometheus', 'view', () => {
  const sink = createPrometheus()
  return {
    sink,
    async read(type, field) {
      const text = (await sink.render()).body.toString()
      const line = new RegExp(`^${type.metrics.get(field)}\\{.*?device="((?:[^"\\\\]|\\\\.)*)".*\\} (\\S+)$`, 'gm')
      const found = [...text.matchAll(line)].map(([, device = '', value = '']): [string, bigint] => [
        device.replace(/\\./g, (pair) => ESCAPED[pair] ?? pair),
        BigInt(value),
      ])
      return new Map(found)
    },
  }
})
