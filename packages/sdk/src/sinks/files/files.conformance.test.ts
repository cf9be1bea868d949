import { readFiles, temporaryFolder } from '../../../test/files-rig.ts'
import { valuesOf } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import { createFiles } from './files.ts'

testSink('files', 'view', (t) => {
  const dataRoot = temporaryFolder(t)
  return {
    sink: createFiles({ dataRoot }),
    read: (type, field) =>
      valuesOf(
        readFiles(dataRoot).flatMap(({ batches }) => batches),
        type,
        field,
      ),
  }
})
