import type { SourceVersion } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'

const COLUMNS: readonly TableColumn<SourceVersion>[] = [
  { key: 'of', head: 'Of', kind: 'rowHead', cell: ({ of }) => of },
  { key: 'version', head: 'Version', cell: ({ version }) => version },
]

/** Versions of the software behind a source. */
export function SourceVersions({ versions }: { readonly versions: readonly SourceVersion[] }) {
  return (
    <section className="panel" aria-label="Versions">
      <h2>Versions</h2>
      <DataTable label="Table of versions" columns={COLUMNS} rows={versions} keyOf={({ of }) => of} />
    </section>
  )
}
