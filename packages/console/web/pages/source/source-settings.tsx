import type { SourceSetting } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'

/** Longer values are wrapped. Unit: characters. */
const VALUE_LENGTH_MAX = 40

const COLUMNS: readonly TableColumn<SourceSetting>[] = [
  { key: 'setting', head: 'Setting', kind: 'rowHead', look: 'mono', cell: ({ key }) => key },
  {
    key: 'value',
    head: 'Value',
    look: ({ value }) => (written(value).length > VALUE_LENGTH_MAX ? 'mono is-wrapping' : 'mono'),
    cell: ({ value }) => written(value),
  },
  {
    key: 'from',
    head: 'From',
    label: 'from',
    look: ({ origin }) => (origin === 'default' ? 'is-quiet' : 'setting-origin'),
    cell: ({ origin }) => origin,
  },
  {
    key: 'what',
    head: 'What it does',
    isWide: true,
    look: 'is-quiet is-wrapping',
    cell: ({ allowed, description }) => (
      <>
        <Prose text={description} />
        {description && allowed && ' · '}
        {allowed}
      </>
    ),
  },
]

/** The settings of a source, and where each was set. */
export function SourceSettings({ settings }: { readonly settings: readonly SourceSetting[] }) {
  return (
    <Panel id="source-settings" title="Settings" caption="keys of data_sources, read at the start">
      <DataTable
        label="Table of settings"
        look="is-stacked"
        columns={COLUMNS}
        rows={settings}
        keyOf={({ key }) => key}
      />
    </Panel>
  )
}

/** Documentation text with its code formatted as code. */
function Prose({ text }: { readonly text: string }) {
  return text.split('`').map((part, place) =>
    place % 2 === 1 ? (
      <code key={part} className="mono">
        {part}
      </code>
    ) : (
      part
    ),
  )
}

/** A value as written in the configuration file. */
function written(value: unknown): string {
  if (value === null || value === '') return '–'
  if (Array.isArray(value)) return value.length === 0 ? '[]' : value.map(written).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
