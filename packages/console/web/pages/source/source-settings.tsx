import type { SettingInfo } from '../../api/types.ts'
import { TableBox } from '../../components/table-box.tsx'

/** What a source was told to do, and where that stands. */
export function SourceSettings({ settings }: { readonly settings: readonly SettingInfo[] }) {
  return (
    <section className="panel" aria-labelledby="source-settings">
      <header className="panel-head has-line">
        <h2 id="source-settings" className="panel-title">
          Settings
        </h2>
        <span className="panel-caption">keys of data_sources, read at the start</span>
      </header>
      <TableBox label="Table of settings">
        <table className="table has-first-fixed">
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
                <td className="mono setting-value">{written(value)}</td>
                <td className={origin === 'default' ? 'is-quiet' : 'setting-origin'}>{origin}</td>
                <td className="is-quiet is-wrapping">
                  {description}
                  {description !== '' && allowed !== '' && '; '}
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

/** A value as the file would say it. */
function written(value: unknown): string {
  if (value === null || value === '') return '–'
  if (Array.isArray(value)) return value.length === 0 ? '[]' : value.map(written).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
