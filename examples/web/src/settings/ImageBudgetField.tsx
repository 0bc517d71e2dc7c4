import { Field, inputLook } from "../ui/Field";
import { count } from "../ui/format";
import { budgetOf, imageBudgets, type ImageBudget } from "./settingsStore";

const words: Record<ImageBudget, string> = {
  70: ", rough, fastest",
  140: "",
  280: ", default",
  560: "",
  1120: ", small print, slowest",
};

interface Props {
  value: ImageBudget | null;
  onChange: (budget: ImageBudget | null) => void;
  /** What null means; without it, there is always a budget. */
  otherwise?: string;
}

/** How closely the model looks at images. */
export function ImageBudgetField({ value, onChange, otherwise }: Props) {
  return (
    <Field
      label="Detail of images"
      help={
        "How much context one image takes. More shows more detail and takes longer. After a change, the images of " +
        "a chat are processed again."
      }
    >
      {(ids) => (
        <select
          {...ids}
          className={inputLook}
          value={value ?? ""}
          onChange={({ target }) => onChange(budgetOf(Number(target.value)))}
        >
          {otherwise !== undefined && <option value="">{otherwise}</option>}
          {imageBudgets.map((budget) => (
            <option key={budget} value={budget}>
              {count(budget)} tokens{words[budget]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
