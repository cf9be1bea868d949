import type { SourceSetting } from '@sonde/sdk/api'
import { TableBox } from '../../components/table-box.tsx'

/** Longer values break into lines. Unit: characters. */
const VALUE_LENGTH_MAX = 40

/** What a source was told to do, and where that stands. */
export function SourceSettings({ settings }: { readonly settings: readonly SourceSetting[] }) {
  return (
    <section className="panel" aria-labelledby="source-settings">
      <header className="panel-head has-line">
        <h2 id="source-settings" className="panel-title">
          Settings
        </h2>
        <span className="panel-caption">keys of data_sources, read at the start</span>
      </header>
      <TableBox label="Table of settings">
        <table className="table is-stacked">
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Value</th>
              <th scope="col">From</th>
              <th scope="col" className="is-wide">
                What it does
              </th>
            </tr>
          </thead>
          <tbody>
            {settings.map(({ key, value, allowed, description, origin }) => (
              <tr key={key}>
                <th scope="row" className="mono">
                  {key}
                </th>
                <td className={written(value).length > VALUE_LENGTH_MAX ? 'mono is-wrapping' : 'mono'}>
                  {written(value)}
                </td>
                <td className={origin === 'default' ? 'is-quiet' : 'setting-origin'} data-label="from">
                  {origin}
                </td>
                <td className="is-quiet is-wrapping">
                  <Prose text={description} />
                  {description && allowed && ' · '}
                  {allowed}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}

/** A text of the documentation, with its code set as such. */
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

/** A value as the file would say it. */
function written(value: unknown): string {
  if (value === null || value === '') return '–'
  if (Array.isArray(value)) return value.length === 0 ? '[]' : value.map(written).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
