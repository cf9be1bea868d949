// Reports to files until it is killed, and says on stdout what was acknowledged: the number of records after each
// flush.
import { createFiles, createSource } from '@sonde/sdk'
import { reportPort } from './sonde-read.ts'

const [dataRoot = '', maxBytes = ''] = process.argv.slice(2)
const sink = createFiles({ dataRoot, maxBytes: Number(maxBytes) })
const source = createSource({ id: 'killed', bufferBytes: 8192, emit: (batch) => sink.accept(batch) })

for (let count = 0; ; ) {
  for (const end = count + 1 + ((count * 7919) % 997); count < end; count++) reportPort(source, count)
  await source.flush()
  await sink.flush()
  process.stdout.write(`${count}\n`)
}
