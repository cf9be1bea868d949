import type { GpuNumber, GpuService } from '../../api/apps.ts'
import { countOf, formatQuantity } from '../../format/number.ts'
import type { Quantity } from '../../format/quantity.ts'
import { FIELD_WORDS } from './gpu-fields.ts'

/** The nine numbers of one service, over its pods at the latest sample. */
export function ServiceCard({ service }: { readonly service: GpuService }) {
  const { name, pods, gpus, values, warming } = service
  const id = `service-${name}`
  return (
    <section className="panel apps-panel" aria-labelledby={id}>
      <header className="panel-head has-line">
        <h2 id={id} className="panel-title">
          {name === '' ? 'no service' : name}
        </h2>
        <span className="panel-caption">
          means of {countOf(pods, 'GPU pod')} on {countOf(gpus, 'GPU')}
          {warming.length > 0 && ` · ${warming.length} warming`}
        </span>
      </header>
      <dl className="nine">
        {FIELD_WORDS.map(({ field, label, quantity }) => (
          <div key={field} className="nine-item">
            <dt>{label}</dt>
            <dd>
              <span className="nine-value num">{formatQuantity(quantity, values[field]?.avg ?? Number.NaN)}</span>
              <span className="nine-range num">{rangeWords(values[field], quantity, pods)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** Least and most of the pods, and how many have the number where not all do. */
function rangeWords(number: GpuNumber | null, quantity: Quantity, pods: number): string {
  if (number === null) return 'no pod has it'
  const { min, max, count } = number
  const of = count < pods ? `${count} of ${pods} pods` : ''
  const [low, high] = [formatQuantity(quantity, min), formatQuantity(quantity, max)]
  return [low === high ? (count > 1 ? 'all alike' : '') : `${low} to ${high}`, of].filter(Boolean).join(' · ')
}
