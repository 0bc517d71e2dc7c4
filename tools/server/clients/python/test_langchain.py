"""LangChain, by its package for OpenAI."""

import unittest

import pydantic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from here import MODEL, PARIS, QUESTION, URL

model = ChatOpenAI(base_url=URL + "/v1", api_key="none", model=MODEL, temperature=0, max_retries=0)


class Number(pydantic.BaseModel):
    a: int = pydantic.Field(ge=0, le=9)


@tool(args_schema=Number)
def add(a: int) -> str:
    """Adds one."""
    return str(a + 1)


class Smoke(unittest.TestCase):
    def test_answer(self):
        self.assertEqual(model.invoke(QUESTION).content, PARIS)


class Embeddings(unittest.TestCase):
    def test_texts(self):
        # Tokens are the server's matter: LangChain would take OpenAI's.
        e = OpenAIEmbeddings(base_url=URL + "/v1", api_key="none", model="embedding", check_embedding_ctx_length=False)
        self.assertEqual([len(v) for v in e.embed_documents(["a text", "another"])], [96, 96])


class Chains(unittest.TestCase):
    def test_stream(self):
        self.assertEqual("".join(c.content for c in model.stream(QUESTION)), PARIS)

    def test_structured(self):
        class City(pydantic.BaseModel):
            continent: str = pydantic.Field(pattern="^(Europe|Asia)$")

        for method in ("json_schema", "function_calling"):
            answer = model.with_structured_output(City, method=method).invoke(QUESTION)
            self.assertIn(answer.continent, ("Europe", "Asia"))

    def test_tools(self):
        bound = model.bind_tools([add], tool_choice="required", parallel_tool_calls=False)
        answer = bound.invoke("Add one to two")
        call = answer.tool_calls[0]
        self.assertEqual(call["name"], "add")
        bound.invoke([HumanMessage("Add one to two"), answer, ToolMessage(add.invoke(call["args"]), tool_call_id=call["id"])])


if __name__ == "__main__":
    unittest.main()
